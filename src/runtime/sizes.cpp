#include "runtime/sizes.h"

#include <algorithm>

#include "ir/kernel_context.h"
#include "ir/opdef.h"
#include "ir/rule_context.h"
#include "runtime/op_dispatch.h"

namespace graphwright::runtime {
namespace {

bool run_broadcast(const SizeStep& step, SizeState& state) {
  const int64_t a = state(step.a), b = state(step.b);
  if (a != b && a != 1 && b != 1) return false;
  state.sizes[step.out] = a == 1 ? b : a;
  return true;
}

// The step's inputs as the shape rule sees them: tensors where their elements are known, else
// values of which only the type is known.
class RuleOperands {
 public:
  RuleOperands(const SizeStep& step, const SizeState& state) : values_(step.inputs.size()) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const StepInput& input = step.inputs[i];
      if (input.constant) {
        operands_.emplace_back(input.constant);
      } else if (input.value >= 0) {
        operands_.emplace_back(state.values[static_cast<size_t>(input.value)]);
      } else {
        std::vector<Dim> dims;
        for (Size size : input.dims) dims.push_back(state(size));
        PartialShape shape =
            input.has_rank ? PartialShape(std::span<const Dim>(dims)) : PartialShape::unknown();
        values_[i].type = input.type ? *input.type : tensor_type(input.dtype, std::move(shape));
        operands_.emplace_back(&values_[i]);
      }
    }
  }
  std::span<const Operand> span() const { return operands_; }

 private:
  std::vector<Value> values_;
  OperandVector operands_;
};

StepResult run_rule(const SizeStep& step, SizeState& state) {
  const OpDef& op = *step.node->op;
  std::vector<ValueType> types;
  for (const Value* output : step.node->outputs) types.push_back({output->dtype(), {}, nullptr});
  RuleOperands operands(step, state);
  ShapeContext context(op, step.node->attributes, operands.span(), types);
  op.shape.function()(context);
  for (const SizeStep::RuleSize& size : step.sizes) {
    const PartialShape& shape = types[static_cast<size_t>(size.output)].shape;
    if (!shape.has_rank() || size.dim >= shape.rank() || !is_known(shape.dim(size.dim))) {
      return StepResult::kUnknown;
    }
    state.sizes[size.out] = shape.dim(size.dim);
  }
  return StepResult::kDone;
}

template <class T>
Tensor integers(std::span<const int64_t> values, std::span<const int64_t> dims) {
  Tensor result = Tensor::empty(std::is_same_v<T, int32_t> ? DType::kInt32 : DType::kInt64, dims);
  std::transform(values.begin(), values.end(), result.mutable_data<T>(),
                 [](int64_t value) { return static_cast<T>(value); });
  return result;
}

// Shape, ShapeN, Size, Rank: they need the dims of their inputs only.
bool read_shape(const SizeStep& step, SizeState& state) {
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    std::vector<int64_t> numbers;
    for (Size size : step.inputs[i].dims) numbers.push_back(state(size));
    std::vector<int64_t> dims;
    if (step.node->op->name == "Rank") {
      numbers = {static_cast<int64_t>(numbers.size())};
    } else if (step.node->op->name == "Size") {
      int64_t product = 1;
      for (int64_t number : numbers) {
        if (__builtin_mul_overflow(product, number, &product)) return false;
      }
      numbers = {product};
    } else {
      dims = {static_cast<int64_t>(numbers.size())};
    }
    const bool narrow = step.node->outputs[i]->dtype() == DType::kInt32;
    // What an int32 cannot hold is the op's own error.
    if (narrow && std::any_of(numbers.begin(), numbers.end(),
                              [](int64_t number) { return number > INT32_MAX; })) {
      return false;
    }
    state.values[static_cast<size_t>(step.first_value) + i] =
        narrow ? integers<int32_t>(numbers, dims) : integers<int64_t>(numbers, dims);
  }
  return true;
}

bool run_value(const SizeStep& step, SizeState& state) {
  const Node& node = *step.node;
  if (reads_shape_only(*node.op)) return read_shape(step, state);
  std::vector<const Tensor*> inputs;
  std::vector<DType> dtypes;
  for (const StepInput& input : step.inputs) {
    inputs.push_back(input.constant ? &input.constant
                                    : &state.values[static_cast<size_t>(input.value)]);
    dtypes.push_back(inputs.back()->dtype());
  }
  std::vector<Tensor> outputs(node.outputs.size());
  Status status;
  if (runs_as_formula(*node.op, dtypes)) {
    status = run_formula(*node.op, inputs, outputs[0]);
  } else {
    KernelContext context(*node.op, node.attributes, inputs, outputs);
    status = call_kernel(node.op->compute.kernel, context);
  }
  if (!status.ok()) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) return false;
    state.values[static_cast<size_t>(step.first_value) + i] = outputs[i].owned();
  }
  return true;
}

}  // namespace

bool reads_shape_only(const OpDef& op) {
  return op.name == "Shape" || op.name == "ShapeN" || op.name == "Size" || op.name == "Rank";
}

StepResult run_size_step(const SizeStep& step, std::span<const Tensor> arguments,
                         SizeState& state) {
  const auto done = [](bool good) { return good ? StepResult::kDone : StepResult::kFailed; };
  try {
    switch (step.kind) {
      case SizeStep::Kind::kArgument:
        state.sizes[step.out] = arguments[static_cast<size_t>(step.argument)].dim(step.dim);
        return StepResult::kDone;
      case SizeStep::Kind::kBroadcast:
        return done(run_broadcast(step, state));
      case SizeStep::Kind::kRule:
        return run_rule(step, state);
      case SizeStep::Kind::kValue:
        return done(run_value(step, state));
    }
  } catch (...) {
    // The program's own run raises it, where it stands.
  }
  return StepResult::kFailed;
}

std::string size_to_text(Size size) {
  if (size == kUnknownSize) return "?";
  return is_computed(size) ? "s" + std::to_string(size_index(size)) : std::to_string(size);
}

std::string dims_to_text(std::span<const Size> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + size_to_text(dims[i]);
  return text + "]";
}

std::string step_to_text(const SizeStep& step) {
  const std::string out = size_to_text(computed_size(step.out)) + " = ";
  switch (step.kind) {
    case SizeStep::Kind::kArgument:
      return out + "argument " + std::to_string(step.argument) + " dim " + std::to_string(step.dim);
    case SizeStep::Kind::kBroadcast:
      return out + "broadcast(" + size_to_text(step.a) + ", " + size_to_text(step.b) + ")";
    default:
      break;
  }
  std::string text;
  if (step.kind == SizeStep::Kind::kValue) {
    for (size_t i = 0; i < step.node->outputs.size(); ++i) {
      text += (i ? ", v" : "v") + std::to_string(step.first_value + static_cast<int32_t>(i));
    }
    text += " = ";
  } else if (step.sizes.empty()) {
    text += "check ";
  } else {
    for (size_t i = 0; i < step.sizes.size(); ++i) {
      text += (i ? ", " : "") + size_to_text(computed_size(step.sizes[i].out));
    }
    text += " = shape of ";
  }
  text += std::string(step.node->op->name) + "(";
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const StepInput& input = step.inputs[i];
    text += i ? ", " : "";
    text += input.constant     ? "constant"
            : input.value >= 0 ? "v" + std::to_string(input.value)
                               : dims_to_text(input.dims);
  }
  return text + ")";
}

}  // namespace graphwright::runtime
