#include "runtime/eager.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/run_control.h"
#include "ir/kernel_context.h"
#include "ir/observer.h"
#include "ir/rule_context.h"
#include "ir/thread_state.h"
#include "ir/type_inference.h"
#include "runtime/op_dispatch.h"

namespace graphwright {
namespace {

using runtime::call_kernel;
using runtime::formula_dtype;
using runtime::run_formula;
using runtime::runs_as_formula;

// The inputs as tensors: a reference each, and the pointers that kernels take.
class InputTensors {
 public:
  InputTensors(const OpDef& op, std::span<const Operand> inputs) : count_(inputs.size()) {
    if (count_ > kInline) {
      heap_tensors_.resize(count_);
      heap_pointers_.resize(count_);
    }
    Tensor* tensors = count_ > kInline ? heap_tensors_.data() : tensors_.data();
    const Tensor** pointers = count_ > kInline ? heap_pointers_.data() : pointers_.data();
    for (size_t i = 0; i < count_; ++i) {
      if (!inputs[i].is_tensor()) {
        std::string name = i < op.signature.input_count ? std::string(op.signature.inputs[i].name)
                                                        : std::to_string(i);
        Error error(ErrorKind::kTypeError,
                    inputs[i]
                        ? "Op " + std::string(op.name) + " runs eagerly, but its input '" + name +
                              "' is a symbolic tensor of a graph, which has no value here."
                        : "Op " + std::string(op.name) + " lacks its input '" + name + "'.");
        error.with_op(op.name).with_argument(name);
        throw error;
      }
      tensors[i] = inputs[i].tensor();
      pointers[i] = &tensors[i];
    }
  }
  std::span<const Tensor* const> pointers() const {
    return {count_ > kInline ? heap_pointers_.data() : pointers_.data(), count_};
  }

 private:
  static constexpr size_t kInline = 8;
  size_t count_;
  std::array<Tensor, kInline> tensors_;
  std::array<const Tensor*, kInline> pointers_;
  std::vector<Tensor> heap_tensors_;
  std::vector<const Tensor*> heap_pointers_;
};

// Whether the row's formula runs on these dtypes as they are, so that no types need resolving. The
// rows of formulas have one type variable, which the formula's value operands share.
bool formula_fits(const OpDef& op, std::span<const Tensor* const> inputs) {
  const FormulaDescriptor& formula = *op.compute.formula;
  if (inputs.size() > static_cast<size_t>(kMaxFormulaOperands)) return false;
  if (op.signature.variadic || inputs.size() != op.signature.input_count) return false;
  std::array<DType, kMaxFormulaOperands> dtypes;
  for (size_t i = 0; i < inputs.size(); ++i) dtypes[i] = inputs[i]->dtype();
  DType type = formula_dtype(formula, std::span(dtypes.data(), inputs.size()));
  if (type == DType::kInvalid || !formula.elementwise(type)) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArgumentSpec& spec = op.signature.inputs[i];
    if (spec.is_variable() ? !op.allowed_types(spec.type).contains(dtypes[i])
                           : dtype_from_name(spec.type) != dtypes[i]) {
      return false;
    }
  }
  return true;
}

void tell_observers(const OpDef& op, const Attributes& attributes, std::span<const Operand> inputs,
                    std::span<const Operand> outputs) {
  // By index: an observer may remove itself.
  auto& observers = thread_state.observers;
  for (size_t i = 0; i < observers.size(); ++i) {
    observers[i]->on_op(op, attributes, inputs, outputs, nullptr);
  }
}

void run_kernel(const OpDef& op, std::span<const Operand> operands,
                std::span<const Tensor* const> inputs, const Attributes& attributes,
                OperandVector& outputs) {
  if (op.compute.kind != ComputeKind::kFormula && !op.compute.kernel) {
    throw Error(Code::kUnimplemented, "Op " + std::string(op.name) + " has no kernel of its own.");
  }
  SmallVector<DType, 8> dtypes;
  for (const Tensor* input : inputs) dtypes.push_back(input->dtype());
  TypeBindings bindings = resolve_types(op, dtypes.span(), attributes, Tier::kEager);
  if (runs_as_formula(op, dtypes.span())) {
    Tensor output;
    Status status = run_formula(op, inputs, output);
    status.throw_if_error();
    outputs.emplace_back(std::move(output));
    return;
  }
  const size_t count = bindings.outputs.size();
  if (op.shape) {
    std::vector<ValueType> types(count);
    for (size_t i = 0; i < count; ++i) types[i].dtype = bindings.outputs[i];
    ShapeContext context(op, attributes, operands, types);
    op.shape.function()(context);
  }
  std::vector<Tensor> results(count);
  KernelContext context(op, attributes, inputs, results);
  Status status = call_kernel(op.compute.kernel, context);
  status.throw_if_error();
  for (size_t i = 0; i < count; ++i) {
    if (!results[i] || results[i].dtype() != bindings.outputs[i]) {
      throw_internal("The kernel of " + std::string(op.name) + " left output " + std::to_string(i) +
                     " unset or of another dtype than its row says.");
    }
    Tensor result = results[i].owned();
    // Tapes tell values by their identity. A result that is an input itself gets one of its own,
    // and so does, while somebody observes, one that a variable or list holds: two reads are two
    // values.
    bool shared = std::any_of(inputs.begin(), inputs.end(),
                              [&](const Tensor* input) { return input->is_same(result); });
    if (thread_state.bits & ThreadState::kObserving) {
      results[i] = Tensor();
      shared |= result.impl()->references.load(std::memory_order_relaxed) > 1;
    }
    outputs.emplace_back(shared ? result.reshaped(result.dims()) : std::move(result));
  }
}

}  // namespace

void run_eager(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
               OperandVector& outputs) {
  const size_t first_output = outputs.size();
  try {
    RunControl control(ambient_stop());
    InputTensors tensors(op, inputs);
    if (op.compute.kind == ComputeKind::kFormula && formula_fits(op, tensors.pointers())) {
      Tensor output;
      Status status = run_formula(op, tensors.pointers(), output);
      status.throw_if_error();
      outputs.emplace_back(std::move(output));
    } else {
      run_kernel(op, inputs, tensors.pointers(), attributes, outputs);
    }
    if (control.stopped()) control.reason().throw_if_error();
  } catch (Error& error) {
    error.with_op(op.name);
    throw;
  }
  if (thread_state.bits & ThreadState::kObserving) [[unlikely]] {
    tell_observers(op, attributes, inputs, std::span(outputs).subspan(first_output));
  }
}

}  // namespace graphwright
