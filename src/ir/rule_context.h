// What the rules of an op row are told, and how they answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/attribute.h"
#include "ir/builder.h"
#include "ir/opdef.h"

namespace graphwright {

// Shape rules: output dtypes are set from the signature before the rule runs.
class ShapeContext {
 public:
  ShapeContext(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
               std::span<ValueType> outputs)
      : attributes_(op, attributes), inputs_(inputs), outputs_(outputs) {}
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  const Operand& input(int index) const { return inputs_[static_cast<size_t>(index)]; }
  PartialShape input_shape(int index) const { return shape_of(input(index)); }
  DType input_dtype(int index) const { return dtype_of(input(index)); }
  ValueType input_type(int index) const { return type_of(input(index)); }
  Tensor constant(int index) const { return constant_value(input(index)); }
  std::optional<PartialVector> partial_vector(int index) const {
    return partial_constant_vector(input(index));
  }
  const AttributeReader& attributes() const { return attributes_; }
  void set_output(int index, PartialShape shape) {
    outputs_[static_cast<size_t>(index)].shape = std::move(shape);
  }
  ValueType& output_type(int index) { return outputs_[static_cast<size_t>(index)]; }
  // InvalidArgument unless the input's rank may be `rank`; returns the shape with that rank.
  PartialShape require_rank(int index, int rank) const;
  PartialShape require_rank_at_least(int index, int rank) const;
  [[noreturn]] void fail(std::string message) const;  // InvalidArgument naming the op

 private:
  AttributeReader attributes_;
  std::span<const Operand> inputs_;
  std::span<ValueType> outputs_;
};

// Shape rules that many rows share.
void shape_unchanged(ShapeContext& context);  // output 0 as input 0
void shape_broadcast(ShapeContext& context);  // output 0: all inputs broadcast together
void shape_scalar(ShapeContext& context);     // every output is a scalar
void shape_none(ShapeContext& context);       // no outputs
void shape_unknown(ShapeContext& context);    // every output unknown

// A gradient: a dense operand, or IndexedSlices (rows `values` at `indices` of a tensor of shape
// `dense_shape`). Null when nothing flows.
struct Gradient {
  Operand values;
  Operand indices;
  Operand dense_shape;
  explicit operator bool() const { return static_cast<bool>(values); }
  bool is_indexed_slices() const { return static_cast<bool>(indices); }
};

// Reverse mode: given gradients of the outputs (null where none arrives), sets those of the inputs
// that are needed. An input left unset gets none.
class GradientContext {
 public:
  GradientContext(Builder& builder, const OpDef& op, const Attributes& attributes,
                  std::span<const Operand> inputs, std::span<const Operand> outputs,
                  std::span<const Gradient> output_gradients, const std::vector<bool>& needed,
                  std::span<Gradient> input_gradients)
      : builder_(builder),
        attributes_(op, attributes),
        inputs_(inputs),
        outputs_(outputs),
        output_gradients_(output_gradients),
        needed_(needed),
        input_gradients_(input_gradients),
        is_total_(inputs.size()) {}
  Builder& builder() { return builder_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool needs(int input) const { return needed_[static_cast<size_t>(input)]; }
  Expression x(int input = 0) { return {builder_, inputs_[static_cast<size_t>(input)]}; }
  Expression y(int output = 0) { return {builder_, outputs_[static_cast<size_t>(output)]}; }
  bool has_dy(int output = 0) const {
    return static_cast<bool>(output_gradients_[static_cast<size_t>(output)]);
  }
  // Dense; zeros like y where no gradient arrives.
  Expression dy(int output = 0);
  void set_dx(int input, Operand gradient) {
    input_gradients_[static_cast<size_t>(input)] = {std::move(gradient), {}, {}};
  }
  void set_dx_slices(int input, Operand values, Operand indices, Operand dense_shape) {
    input_gradients_[static_cast<size_t>(input)] = {std::move(values), std::move(indices),
                                                    std::move(dense_shape)};
  }
  // The gradient that arrived, IndexedSlices as they are: for ops that hand their input on.
  void pass_dy(int input, int output = 0) {
    input_gradients_[static_cast<size_t>(input)] = output_gradients_[static_cast<size_t>(output)];
  }
  // The sum of the input's gradients so far; null if there is none. set_total replaces it: so that
  // a rule that changes one element of a list changes the sum in place.
  Expression total(int input);
  void set_total(int input, Operand sum) {
    set_dx(input, std::move(sum));
    is_total_[static_cast<size_t>(input)] = true;
  }
  bool is_total(int input) const { return is_total_[static_cast<size_t>(input)]; }
  void give_totals(std::span<const Gradient* const> totals) { totals_ = totals; }
  // Sums `gradient` over the dimensions along which the input was broadcast, then sets it.
  void set_dx_unbroadcast(int input, const Expression& gradient);
  const AttributeReader& attributes() const { return attributes_; }

 private:
  Builder& builder_;
  AttributeReader attributes_;
  std::span<const Operand> inputs_, outputs_;
  std::span<const Gradient> output_gradients_;
  const std::vector<bool>& needed_;
  std::span<Gradient> input_gradients_;
  std::span<const Gradient* const> totals_;
  std::vector<bool> is_total_;
};

// Forward mode: given tangents of the inputs (null where zero), sets those of the outputs.
class ForwardContext {
 public:
  ForwardContext(Builder& builder, const OpDef& op, const Attributes& attributes,
                 std::span<const Operand> inputs, std::span<const Operand> outputs,
                 std::span<const Operand> input_tangents, std::span<Operand> output_tangents)
      : builder_(builder),
        attributes_(op, attributes),
        inputs_(inputs),
        outputs_(outputs),
        input_tangents_(input_tangents),
        output_tangents_(output_tangents) {}
  Builder& builder() { return builder_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  Expression x(int input = 0) { return {builder_, inputs_[static_cast<size_t>(input)]}; }
  Expression y(int output = 0) { return {builder_, outputs_[static_cast<size_t>(output)]}; }
  bool has_dx(int input = 0) const {
    return static_cast<bool>(input_tangents_[static_cast<size_t>(input)]);
  }
  Expression dx(int input = 0);  // zeros like x where there is none
  void set_dy(int output, Operand tangent) {
    output_tangents_[static_cast<size_t>(output)] = std::move(tangent);
  }
  const AttributeReader& attributes() const { return attributes_; }
  std::span<const Operand> inputs() const { return inputs_; }

 private:
  Builder& builder_;
  AttributeReader attributes_;
  std::span<const Operand> inputs_, outputs_, input_tangents_;
  std::span<Operand> output_tangents_;
};

// The forward rule of a function that is linear in every differentiable input taken together: the
// same op applied to the tangents (zeros where there is none).
void forward_linear(ForwardContext& context);

// Constant inference: the values of an integer vector or scalar output as far as they are known.
class ConstantContext {
 public:
  ConstantContext(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs)
      : attributes_(op, attributes), inputs_(inputs) {}
  const Operand& input(int index) const { return inputs_[static_cast<size_t>(index)]; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  const AttributeReader& attributes() const { return attributes_; }
  void set(PartialVector values) { result_ = std::move(values); }
  std::optional<PartialVector>& result() { return result_; }

 private:
  AttributeReader attributes_;
  std::span<const Operand> inputs_;
  std::optional<PartialVector> result_;
};

// Rows of equal index summed into a tensor of the dense shape (UnsortedSegmentSum); the values
// themselves when they are dense already.
Operand dense_gradient(Builder& builder, const Gradient& gradient);
// Sum of `value` over the dimensions along which a tensor like `like` was broadcast to its shape.
Operand sum_to_shape_of(Builder& builder, const Operand& value, const Operand& like);
Operand zeros_like(Builder& builder, const Operand& operand);
Operand ones_like(Builder& builder, const Operand& operand);

}  // namespace graphwright
