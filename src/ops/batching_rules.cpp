#include "ops/batching_rules.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ops/op_support.h"

namespace graphwright {
namespace {

void apply_unchanged(BatchContext& context, std::span<const Operand> inputs) {
  context.set_all(
      context.apply(context.attributes().op().name, inputs, context.attributes().attributes()));
}

// Attributes as they are but for one.
Attributes with_attribute(const BatchContext& context, std::string_view name,
                          AttributeValue value) {
  const OpDef& op = context.attributes().op();
  Attributes attributes = context.attributes().attributes();
  attributes.set(op.signature.attribute_index(name), std::move(value));
  return attributes;
}

// An axis of one iteration as an axis of all of them.
int64_t shifted(BatchContext& context, int64_t axis, int rank) {
  if (axis < -rank || axis >= std::max(rank, 1)) context.fail("an axis is out of range");
  return (axis < 0 ? axis + rank : axis) + 1;
}

// Inputs broadcast against each other behind the first dimension.
void elementwise(BatchContext& context) {
  int rank = 0;
  if (context.input_count() > 1) {
    for (int i = 0; i < context.input_count(); ++i) rank = std::max(rank, context.rank(i));
  }
  OperandVector inputs;
  for (int i = 0; i < context.input_count(); ++i) {
    inputs.push_back(context.input_count() > 1 ? context.ranked(i, rank) : context.input(i));
  }
  apply_unchanged(context, inputs);
}

// Ops that do not look at leading dimensions.
void pass_through(BatchContext& context) {
  OperandVector inputs;
  for (int i = 0; i < context.input_count(); ++i) inputs.push_back(context.stacked(i));
  apply_unchanged(context, inputs);
}

void over_last_axis(BatchContext& context) {
  if (context.rank(0) < 1) context.fail("it needs a dimension");
  pass_through(context);
}

void reduction(BatchContext& context) {
  int rank = context.rank(0);
  std::vector<int64_t> axes = context.known_integers(1);
  for (int64_t& axis : axes) axis = shifted(context, axis, rank);
  const Operand inputs[] = {context.input(0), context.integers(1, axes)};
  apply_unchanged(context, inputs);
}

// ArgMax and ArgMin.
void argument_reduction(BatchContext& context) {
  int64_t axis = shifted(context, context.known_integers(1).at(0), context.rank(0));
  const Operand inputs[] = {
      context.input(0),
      context.builder().constant(Tensor::int32_scalar(static_cast<int32_t>(axis)))};
  apply_unchanged(context, inputs);
}

void reshape(BatchContext& context) {
  const Operand inputs[] = {context.input(0), context.with_count(context.unbatched(1))};
  apply_unchanged(context, inputs);
}

void transpose(BatchContext& context) {
  std::vector<int64_t> permutation{0};
  for (int64_t axis : context.known_integers(1)) permutation.push_back(axis + 1);
  const Operand inputs[] = {context.input(0), context.integers(1, permutation)};
  apply_unchanged(context, inputs);
}

void expand_dims(BatchContext& context) {
  int64_t axis = shifted(context, context.known_integers(1).at(0), context.rank(0) + 1);
  const Operand inputs[] = {
      context.input(0),
      context.builder().constant(Tensor::int32_scalar(static_cast<int32_t>(axis)))};
  apply_unchanged(context, inputs);
}

void squeeze(BatchContext& context) {
  int rank = context.rank(0);
  std::vector<int64_t> axes = context.attributes().integers("squeeze_dims");
  if (axes.empty()) {
    PartialShape shape = context.shape(0);
    for (int i = 0; i < rank; ++i) {
      if (!is_known(shape.dim(i))) context.fail("a dimension is not known");
      if (shape.dim(i) == 1) axes.push_back(i);
    }
    if (axes.empty()) {
      context.set_all({context.input(0)});
      return;
    }
  }
  for (int64_t& axis : axes) axis = shifted(context, axis, rank);
  const Operand inputs[] = {context.input(0)};
  context.set_all(context.apply("Squeeze", inputs, with_attribute(context, "squeeze_dims", axes)));
}

// MatMul as a product of stacks.
void matmul(BatchContext& context) {
  const OpDef& op = get_op("BatchMatMulV2");
  const AttributeReader& attributes = context.attributes();
  DType dtype = dtype_of(context.input(0));
  bool complex = dtype == DType::kComplex64 || dtype == DType::kComplex128;
  if (complex && (attributes.boolean("transpose_a") || attributes.boolean("transpose_b"))) {
    context.fail("complex matrices would be conjugated");
  }
  const Operand inputs[] = {context.input(0), context.input(1)};
  context.set_all(
      context.apply("BatchMatMulV2", inputs,
                    named_attributes(op, {{"adj_x", attributes.boolean("transpose_a")},
                                          {"adj_y", attributes.boolean("transpose_b")}})));
}

void concat(BatchContext& context) {
  int last = context.input_count() - 1;
  int64_t axis = shifted(context, context.known_integers(last).at(0), context.rank(0));
  OperandVector inputs;
  for (int i = 0; i < last; ++i) inputs.push_back(context.stacked(i));
  inputs.push_back(context.builder().constant(Tensor::int32_scalar(static_cast<int32_t>(axis))));
  apply_unchanged(context, inputs);
}

// Pack and Unpack: an axis among the attributes.
template <int ExtraRank>
void axis_attribute(BatchContext& context) {
  int64_t axis = context.attributes().integer("axis");
  axis = shifted(context, axis, context.rank(0) + ExtraRank);
  OperandVector inputs;
  for (int i = 0; i < context.input_count(); ++i) inputs.push_back(context.stacked(i));
  context.set_all(
      context.apply(context.attributes().op().name, inputs, with_attribute(context, "axis", axis)));
}

void split(BatchContext& context) {
  int64_t axis = shifted(context, context.known_integers(0).at(0), context.rank(1));
  const Operand inputs[] = {
      context.builder().constant(Tensor::int32_scalar(static_cast<int32_t>(axis))),
      context.input(1)};
  apply_unchanged(context, inputs);
}

void slice(BatchContext& context) {
  const int64_t zero[] = {0}, all[] = {-1};
  Operand begin = context.unbatched(1), size = context.unbatched(2);
  const Operand inputs[] = {context.input(0), context.joined(context.integers(1, zero), begin),
                            context.joined(context.integers(1, all), size)};
  apply_unchanged(context, inputs);
}

void strided_slice(BatchContext& context) {
  const int64_t zero[] = {0}, one[] = {1};
  OperandVector inputs{context.input(0)};
  for (int i = 1; i < 4; ++i) {
    Operand first = context.integers(1, i == 3 ? one : zero);
    inputs.push_back(context.joined(first, context.unbatched(i)));
  }
  const OpDef& op = context.attributes().op();
  Attributes attributes = context.attributes().attributes();
  for (const char* name :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    int64_t mask = context.attributes().integer(name) << 1;
    bool whole = std::string_view(name) == "begin_mask" || std::string_view(name) == "end_mask";
    attributes.set(op.signature.attribute_index(name), mask | (whole ? 1 : 0));
  }
  context.set_all(context.apply(op.name, inputs, attributes));
}

void gather(BatchContext& context) {
  int64_t axis = context.known_integers(2).at(0);
  int64_t batch_dims = context.attributes().integer("batch_dims");
  int params_rank = context.rank(0), indices_rank = context.rank(1);
  if (axis < 0) axis += params_rank;
  if (batch_dims < 0) batch_dims += indices_rank;
  bool params = context.batched(0), indices = context.batched(1);
  OperandVector inputs{context.input(0), context.input(1)};
  if (!params && axis == 0 && batch_dims == 0) {
    // Rows of one table: the indices of all iterations at once.
  } else if (params && !indices && batch_dims == 0) {
    ++axis;
  } else {
    inputs = {context.stacked(0), context.stacked(1)};
    ++axis;
    ++batch_dims;
  }
  inputs.push_back(context.builder().constant(Tensor::int32_scalar(static_cast<int32_t>(axis))));
  context.set_all(
      context.apply("GatherV2", inputs, with_attribute(context, "batch_dims", batch_dims)));
}

void tile(BatchContext& context) {
  const int64_t one[] = {1};
  Operand multiples = context.joined(context.integers(1, one), context.unbatched(1));
  const Operand inputs[] = {context.input(0), multiples};
  apply_unchanged(context, inputs);
}

// Pad and PadV2.
void pad(BatchContext& context) {
  const int64_t none[] = {0, 0};
  Operand first = context.builder().op(
      "ExpandDims",
      {context.integers(1, none), context.builder().constant(Tensor::int32_scalar(0))});
  OperandVector inputs{context.input(0), context.joined(first, context.unbatched(1))};
  if (context.input_count() > 2) inputs.push_back(context.unbatched(2));
  apply_unchanged(context, inputs);
}

void broadcast_to(BatchContext& context) {
  PartialShape length = shape_of(context.unbatched(1));
  if (!length.has_rank() || length.rank() != 1 || !is_known(length.dim(0))) {
    context.fail("the rank of the result is not known");
  }
  Operand value = context.ranked(0, static_cast<int>(length.dim(0)));
  const Operand inputs[] = {value, context.with_count(context.input(1))};
  apply_unchanged(context, inputs);
}

void fill(BatchContext& context) {
  PartialShape length = shape_of(context.unbatched(0));
  if (!length.has_rank() || length.rank() != 1 || !is_known(length.dim(0))) {
    context.fail("the rank of the result is not known");
  }
  const Operand inputs[] = {context.ranked(1, static_cast<int>(length.dim(0))),
                            context.with_count(context.input(0))};
  context.set_all(context.apply("BroadcastTo", inputs, {}));
}

void one_hot(BatchContext& context) {
  int64_t axis = context.attributes().integer("axis");
  if (axis >= 0) ++axis;
  const Operand inputs[] = {context.input(0), context.unbatched(1), context.unbatched(2),
                            context.unbatched(3)};
  context.set_all(context.apply("OneHot", inputs, with_attribute(context, "axis", axis)));
}

// The shape of one iteration is the same in all of them.
Operand inner_shape(BatchContext& context, const Attributes& attributes) {
  const Operand input[] = {context.input(0)};
  Operand shape = context.apply("Shape", input, attributes)[0];
  const int32_t one[] = {1}, all[] = {-1};
  Builder& builder = context.builder();
  return builder.op("Slice", {shape, builder.constant(Tensor::vector<int32_t>(DType::kInt32, one)),
                              builder.constant(Tensor::vector<int32_t>(DType::kInt32, all))});
}
void shape(BatchContext& context) {
  context.set_all({inner_shape(context, context.attributes().attributes())}, false);
}
void rank(BatchContext& context) {
  context.set_all({context.builder().constant(Tensor::int32_scalar(context.rank(0)))}, false);
}

void bias_add(BatchContext& context) {
  if (context.attributes().string("data_format") != "NHWC") context.fail("of its data format");
  if (context.batched(1)) {
    const Operand inputs[] = {context.stacked(0), context.ranked(1, context.rank(0))};
    context.set_all(context.apply("AddV2", inputs, {}));
    return;
  }
  const Operand inputs[] = {context.input(0), context.input(1)};
  apply_unchanged(context, inputs);
}

struct NamedRule {
  std::string_view op;
  BatchRule rule;
};
constexpr NamedRule kRules[] = {
    {"Identity", pass_through},
    {"IdentityN", pass_through},
    {"StopGradient", pass_through},
    {"PreventGradient", pass_through},
    {"CheckNumerics", pass_through},
    {"ZerosLike", pass_through},
    {"OnesLike", pass_through},
    {"Cast", pass_through},
    {"AddN", pass_through},
    {"BatchMatMulV2", elementwise},
    {"SelectV2", elementwise},
    {"Softmax", over_last_axis},
    {"LogSoftmax", over_last_axis},
    {"Sum", reduction},
    {"Mean", reduction},
    {"Prod", reduction},
    {"Max", reduction},
    {"Min", reduction},
    {"All", reduction},
    {"Any", reduction},
    {"ReverseV2", reduction},
    {"ArgMax", argument_reduction},
    {"ArgMin", argument_reduction},
    {"Reshape", reshape},
    {"Transpose", transpose},
    {"ExpandDims", expand_dims},
    {"Squeeze", squeeze},
    {"MatMul", matmul},
    {"ConcatV2", concat},
    {"Pack", axis_attribute<1>},
    {"Unpack", axis_attribute<0>},
    {"Split", split},
    {"Slice", slice},
    {"StridedSlice", strided_slice},
    {"GatherV2", gather},
    {"Tile", tile},
    {"Pad", pad},
    {"PadV2", pad},
    {"BroadcastTo", broadcast_to},
    {"Fill", fill},
    {"OneHot", one_hot},
    {"Shape", shape},
    {"Rank", rank},
    {"BiasAdd", bias_add},
};

}  // namespace

BatchRule find_batch_rule(const OpDef& op) {
  if (op.batching) return op.batching.function();
  for (const NamedRule& named : kRules) {
    if (named.op == op.name) return named.rule;
  }
  bool is_elementwise = op.compute.kind == ComputeKind::kFormula || op.has(kElementwise);
  return is_elementwise ? elementwise : nullptr;
}

}  // namespace graphwright
