// What the files of the op table share.
//
// Rows with a formula stand in files named *.ops.cpp, which are compiled once more per vector
// width; the others in files named *_ops.cpp. Each file registers its own table with
// GW_REGISTER_OPS: all files are linked as objects, so none can be dropped.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/kernel_context.h"
#include "ir/opdef.h"
#include "ir/rule_context.h"

namespace graphwright {

// --- Kernels -------------------------------------------------------------------------------------

// A kernel from a function that throws Error: conversion happens once, here.
Status run_guarded(void (*body)(KernelContext&), KernelContext& context);
template <void (*Body)(KernelContext&)>
Status guarded(KernelContext& context) {
  return run_guarded(Body, context);
}

// Output `output` is input `input` itself.
void forward_input(KernelContext& context, int input = 0, int output = 0);
// The types of the outputs by the op's own shape rule, all inputs being known: kernels use the same
// checks as tracing. Only shapes and handles are set; Internal if a shape is not fully known.
std::vector<ValueType> infer_outputs(KernelContext& context);
// The output, allocated with the dims that the shape rule gives.
Tensor& infer_output(KernelContext& context, DType dtype);
[[noreturn]] void fail(KernelContext& context, std::string message);  // InvalidArgument
// "indices" and the like are reported as `argument`.
[[noreturn]] void fail(KernelContext& context, std::string_view argument, std::string message);

// "[2,?]", or "<unknown>": shapes as run-time errors print them.
std::string shape_text(const PartialShape& shape);

// --- Integer tensors -----------------------------------------------------------------------------

// Element `index` of an integer tensor of any width (uint64 beyond int64 wraps).
int64_t integer_at(const Tensor& tensor, int64_t index);
std::vector<int64_t> integer_values(const Tensor& tensor);
void set_integer(Tensor& tensor, int64_t index, int64_t value);
Tensor integer_vector(DType dtype, std::span<const int64_t> values);
Tensor integer_scalar(DType dtype, int64_t value);
// Dims of the vector of that many elements.
inline std::array<int64_t, 1> vector_dims(int64_t count) { return {count}; }

// Axis in [-rank, rank) made >= 0; nullopt outside.
std::optional<int> normalize_axis(int64_t axis, int rank);
// The axes of a reduction, or of a reversal, each once. InvalidArgument outside [-rank, rank).
std::vector<bool> axis_mask(std::span<const int64_t> axes, int rank);

// --- Gradients -----------------------------------------------------------------------------------

// named_attributes by op name.
Attributes attributes_of(std::string_view op_name,
                         std::vector<std::pair<std::string_view, AttributeValue>> values);
// The attributes of one op that another op has under the same names.
Attributes copy_attributes(const AttributeReader& from, std::string_view to_op);

// Builds ops as expressions: call("Reshape", {x, shape}).
class Algebra {
 public:
  explicit Algebra(Builder& builder) : builder_(builder) {}
  Builder& builder() const { return builder_; }
  Expression call(std::string_view op_name, std::initializer_list<Operand> inputs,
                  const Attributes& attributes = {}) const {
    return {builder_, builder_.op(op_name, inputs, attributes)};
  }
  Expression call(std::string_view op_name, std::initializer_list<Operand> inputs,
                  std::vector<std::pair<std::string_view, AttributeValue>> attributes) const {
    return call(op_name, inputs, attributes_of(op_name, std::move(attributes)));
  }
  Expression constant(Tensor tensor) const { return {builder_, builder_.constant(tensor)}; }
  Expression int32(int32_t value) const { return constant(Tensor::int32_scalar(value)); }
  Expression int32_vector(std::span<const int64_t> values) const {
    return constant(integer_vector(DType::kInt32, values));
  }
  Expression int32_vector(std::initializer_list<int64_t> values) const {
    return int32_vector(std::span(values.begin(), values.size()));
  }
  // The run-time shape as an int32 vector: a constant where it is known.
  Expression shape_of(const Operand& x, DType dtype = DType::kInt32) const;
  Expression rank_of(const Operand& x) const;
  // x cast to `dtype`, or x itself.
  Expression cast(const Operand& x, DType dtype) const;
  Expression reshape(const Operand& x, const Operand& shape) const {
    return call("Reshape", {x, shape});
  }
  Expression reshape_like(const Operand& x, const Operand& like) const {
    return reshape(x, shape_of(like));
  }
  Expression zeros_like(const Operand& x) const;
  // The complex conjugate; x itself unless complex.
  Expression conjugate(const Operand& x) const;
  Expression sum(const Operand& x, const Operand& axes, bool keep_dims = false) const;

 private:
  Builder& builder_;
};

// Forward mode of ops that are linear in their first input, the others being integers: the same op
// applied to its tangent.
void forward_first_input(ForwardContext& context);

// --- Dtypes --------------------------------------------------------------------------------------

inline constexpr DTypeSet kAxisTypes = kIndex;
inline constexpr DTypeSet kGatherIndex = kIndex | DTypeSet::of(DType::kInt16);

// --- Tables --------------------------------------------------------------------------------------

#define GW_REGISTER_OPS(table)                          \
  GW_CHECK_OP_TABLE(table);                             \
  namespace {                                           \
  [[maybe_unused]] const bool ops_are_registered = [] { \
    register_ops(table);                                \
    return true;                                        \
  }();                                                  \
  }

#define GW_REGISTER_FUNCTIONS(table)                          \
  namespace {                                                 \
  [[maybe_unused]] const bool functions_are_registered = [] { \
    register_functions(table);                                \
    return true;                                              \
  }();                                                        \
  }

}  // namespace graphwright
