// Gradient and forward rules of elementwise ops, from their derivatives.
#pragma once

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/rule_context.h"

namespace graphwright {

// The complex conjugate; x itself unless complex.
Expression conjugated(const Expression& x);
// condition ? x : y, broadcast.
Expression where(const Expression& condition, const Expression& x, const Expression& y);
Expression zeros_like(const Expression& x);

// dy/dx of y = f(x). Of complex functions the gradient takes the conjugate.
using UnaryDerivative = Expression (*)(const Expression& x, const Expression& y);

template <UnaryDerivative Derivative>
void unary_gradient(GradientContext& context) {
  context.set_dx(0, context.dy() * conjugated(Derivative(context.x(), context.y())));
}
template <UnaryDerivative Derivative>
void unary_forward(ForwardContext& context) {
  context.set_dy(0, context.dx() * Derivative(context.x(), context.y()));
}

// dz/dx or dz/dy of z = f(x, y), of a shape that x and y broadcast to.
using BinaryDerivative = Expression (*)(const Expression& x, const Expression& y,
                                        const Expression& z);

template <BinaryDerivative ByX, BinaryDerivative ByY>
void binary_gradient(GradientContext& context) {
  const Expression x = context.x(0), y = context.x(1), z = context.y();
  if (context.needs(0)) {
    context.set_dx_unbroadcast(0, context.dy() * conjugated(ByX(x, y, z)));
  }
  if (context.needs(1)) {
    context.set_dx_unbroadcast(1, context.dy() * conjugated(ByY(x, y, z)));
  }
}
template <BinaryDerivative ByX, BinaryDerivative ByY>
void binary_forward(ForwardContext& context) {
  const Expression x = context.x(0), y = context.x(1), z = context.y();
  Expression tangent;
  if (context.has_dx(0)) tangent = context.dx(0) * ByX(x, y, z);
  if (context.has_dx(1)) {
    Expression second = context.dx(1) * ByY(x, y, z);
    tangent = tangent ? tangent + second : second;
  }
  if (tangent) context.set_dy(0, tangent);
}

}  // namespace graphwright
