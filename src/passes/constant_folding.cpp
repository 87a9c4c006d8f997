// Computes what can be known now: nodes whose inputs are all constants, by running their kernels,
// and sizes and shapes that types tell. What fails is left to fail when the program runs.
#include <algorithm>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "ir/type_inference.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace graphwright::passes {
namespace {

// Compiling must stay quick and plans small: no more elements than this go into a kernel or come
// out of it, but for results that are no larger than an input. A fill of a million elements is
// cheaper to make than to keep.
constexpr int64_t kMaxInputElements = 4096;
constexpr int64_t kMaxOutputElements = 1024;

class ConstantFolding final : public Rewriter {
 public:
  ConstantFolding(Graph& graph, Builder& evaluator) : Rewriter(graph), evaluator_(evaluator) {}

 private:
  bool visit(Node& node) override {
    if (!is_pure_leaf(node) || node.outputs.empty() || gives_handles(node) ||
        constant_tensor(*node.outputs[0])) {
      return true;
    }
    if (all_constant(node)) return !fold(node);
    return !fold_partly_known(node);
  }

  static bool all_constant(const Node& node) {
    return !node.inputs.empty() &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [](const Value* input) { return constant_tensor(*input); });
  }

  bool fold(Node& node) {
    OperandVector inputs;
    int64_t most = kMaxOutputElements;
    for (const Value* input : node.inputs) {
      const Tensor& tensor = *constant_tensor(*input);
      if (tensor.element_count() > kMaxInputElements) return false;
      most = std::max(most, tensor.element_count());
      inputs.emplace_back(tensor);
    }
    ObserverPause pause;  // this is no op of the program
    try {
      // Sizes that only the kernel knows are not bounded, so that it does not run.
      for (const ValueType& type : infer_types(*node.op, inputs, node.attributes, Tier::kEager)) {
        std::optional<int64_t> count =
            type.shape.is_fully_defined() ? type.shape.element_count() : std::nullopt;
        if (!count || *count > most) return false;
      }
      OperandVector outputs;
      evaluator_.apply(*node.op, inputs, node.attributes, outputs);
      return put(node, outputs);
    } catch (const Error&) {
      return false;  // an error is the program's, when it runs
    }
  }

  // The row knows how the value follows from types: Shape, Size, Rank, and what is made of them.
  bool fold_partly_known(Node& node) {
    if (!node.op->constant || node.outputs.size() != 1) return false;
    Tensor value;
    try {
      value = constant_value(Operand(node.outputs[0]));
    } catch (const Error&) {
      return false;
    }
    return value && put(node, {Operand(value)});
  }

  bool put(Node& node, const OperandVector& results) {
    if (results.size() != node.outputs.size()) return false;
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& tensor = results[i].tensor();
      const Value& output = *node.outputs[i];
      if (tensor.dtype() != output.dtype() ||
          !output.shape().without_symbols().is_supertype_of(tensor.shape())) {
        return false;
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      replace(node.outputs[i], make_constant_before(node, results[i].tensor()));
    }
    return true;
  }

  Builder& evaluator_;
};

}  // namespace

void fold_constants(Graph& graph, PassContext& context) {
  if (context.evaluator) ConstantFolding(graph, *context.evaluator).run();
}

}  // namespace graphwright::passes
