// What the files of the function table share.
//
// A function whose nodes are one op leaves `node_name` empty and lets apply_op name things; a
// composite sets it, and is then called inside a scope of that name with kScopeName as its own, so
// that its last op carries the scope's name.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "ir/functiondef.h"
#include "ops/op_support.h"

namespace graphwright {

// An input of apply_op: an operand, or a tensor that the function itself made.
struct Part {
  Operand operand;
  bool is_constant = false;
  Part(Operand value) : operand(std::move(value)) {}           // NOLINT: lists read as data
  Part(const Expression& value) : operand(value.operand()) {}  // NOLINT
  Part(Tensor value) : operand(std::move(value)), is_constant(true) {}  // NOLINT
};

// The function's last op. In a graph, constants among the inputs are named after the op's inputs
// within the node's scope: "Sum/reduction_indices" beside "Sum", as TensorFlow names them.
OperandVector apply_op_outputs(CallContext& context, std::string_view op, std::vector<Part> inputs,
                               const Attributes& attributes = {}, std::string_view node_name = {});
Operand apply_op(CallContext& context, std::string_view op, std::vector<Part> inputs,
                 const Attributes& attributes = {}, std::string_view node_name = {});
Operand apply_op(CallContext& context, std::string_view op, std::vector<Part> inputs,
                 std::vector<std::pair<std::string_view, AttributeValue>> attributes,
                 std::string_view node_name = {});

// An op in the middle of a composite, with constants named after its inputs.
Expression inner_op(Builder& builder, std::string_view op, std::vector<Part> inputs,
                    const Attributes& attributes = {}, std::string_view node_name = {});

// The axes of a reduction: argument `index` of kind axis, or all of x's when it is None.
Part reduction_axes(CallContext& context, const Operand& x, int index);
Part reduction_axes(Builder& builder, const Argument& axis, const Operand& x);
// An int given as int, or as a scalar operand, as an int32 scalar.
Part axis_scalar(const Argument& axis);
// The same, which must be known now: ValueError otherwise.
int64_t static_integer(const Argument& argument, std::string_view name);

// The tensor that a Python number stands for in arithmetic with `like`.
Tensor number_like(double value, DType dtype);

}  // namespace graphwright
