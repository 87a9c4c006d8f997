// The builder that runs what it is asked to make: gradient rules and function bodies written over
// the builder compute at once.
#include <array>

#include "ir/thread_state.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

// The truth of a one-element tensor.
bool truth(const Operand& operand, std::string_view what) {
  if (!operand.is_tensor()) {
    throw_type_error("The condition of " + std::string(what) +
                     " is a symbolic tensor of a graph, which has no value here.");
  }
  Tensor tensor = operand.tensor();
  if (tensor.dtype() != DType::kBool) {
    throw_type_error("The condition of " + std::string(what) + " must be a bool, but has dtype " +
                     std::string(dtype_name(tensor.dtype())) + ".");
  }
  if (tensor.element_count() != 1) {
    throw_value_error(
        "The truth value of an array with " +
        std::string(tensor.element_count() == 0 ? "no elements" : "more than one element") +
        " is ambiguous: the condition of " + std::string(what) + " has shape " +
        tensor.shape().to_string() + ".");
  }
  return *tensor.data<bool>();
}

// int32 or int64 scalar.
int64_t iteration_limit(const Operand& operand) {
  Tensor tensor = operand.tensor();
  if (tensor.element_count() != 1 || !kIndex.contains(tensor.dtype())) {
    throw_value_error("maximum_iterations must be an integer scalar, but is " +
                      std::string(dtype_name(tensor.dtype())) + " of shape " +
                      tensor.shape().to_string() + ".");
  }
  return tensor.dtype() == DType::kInt32 ? *tensor.data<int32_t>() : *tensor.data<int64_t>();
}

class EagerBuilder : public Builder {
 public:
  void apply(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
             OperandVector& outputs, std::string_view) override {
    if (attributes.empty() && op.compute.kind == ComputeKind::kFormula) {
      TensorImpl* result = nullptr;
      if (inputs.size() == 2 && inputs[0].is_tensor() && inputs[1].is_tensor()) {
        result = try_fast_binary(op, inputs[0].impl(), inputs[1].impl());
      } else if (inputs.size() == 1 && inputs[0].is_tensor()) {
        result = try_fast_unary(op, inputs[0].impl());
      }
      if (result) {
        outputs.emplace_back(Tensor::adopt(result));
        return;
      }
    }
    run_eager(op, inputs, attributes, outputs);
  }

  OperandVector while_loop(const WhileOptions& options, std::span<const Operand> carried,
                           BlockFunction condition, BlockFunction body) override {
    const int64_t limit =
        options.maximum_iterations ? iteration_limit(options.maximum_iterations) : -1;
    OperandVector values;
    values.reserve(carried.size() + 1);
    values.emplace_back(Tensor::int32_scalar(0));
    values.insert(values.end(), carried.begin(), carried.end());
    for (int64_t count = 0;; ++count) {
      OperandVector test = condition(values);
      if (test.size() != 1) {
        throw_value_error("The condition of '" + std::string(options.name) + "' gave " +
                          std::to_string(test.size()) + " values instead of one.");
      }
      if (!truth(test[0], options.name) || (limit >= 0 && count >= limit)) return values;
      OperandVector next = body(values);
      if (next.size() != carried.size()) {
        throw_value_error("The body of '" + std::string(options.name) + "' gave " +
                          std::to_string(next.size()) + " values, but " +
                          std::to_string(carried.size()) + " are carried.");
      }
      values[0] = Tensor::int32_scalar(static_cast<int32_t>(count + 1));
      std::move(next.begin(), next.end(), values.begin() + 1);
    }
  }

  OperandVector if_else(const Operand& condition, BlockFunction then_branch,
                        BlockFunction else_branch, std::string_view name) override {
    return truth(condition, name.empty() ? "cond" : name) ? then_branch({}) : else_branch({});
  }

  OperandVector switch_case(const Operand& index, std::span<const BlockFunction> branches,
                            std::string_view name) override {
    Tensor tensor = index.is_tensor() ? index.tensor() : Tensor();
    if (!tensor || tensor.dtype() != DType::kInt32 || tensor.element_count() != 1) {
      throw_type_error("The index of '" + std::string(name.empty() ? "indexed_case" : name) +
                       "' must be an int32 scalar.");
    }
    auto number = static_cast<int64_t>(*tensor.data<int32_t>());
    auto count = static_cast<int64_t>(branches.size());
    return branches[static_cast<size_t>(number < 0 || number >= count ? count - 1 : number)]({});
  }

  bool is_eager() const override { return true; }
  Operand constant(const Tensor& tensor, std::string_view) override { return tensor; }
};

[[maybe_unused]] const bool factory_is_set = [] {
  set_eager_builder_factory(eager_builder);
  return true;
}();

}  // namespace

Builder& eager_builder() {
  static EagerBuilder builder;
  return builder;
}

}  // namespace graphwright
