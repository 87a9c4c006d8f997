#include "runtime/op_dispatch.h"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <vector>

#include "ir/rule_context.h"
#include "kernels/elementwise.h"

namespace graphwright::runtime {

DType formula_dtype(const FormulaDescriptor& formula, std::span<const DType> inputs) {
  const FormulaSignature& signature = formula.signature;
  if (inputs.size() != static_cast<size_t>(signature.arity)) return DType::kInvalid;
  // The first operand that has T itself tells it; a formula of masks alone runs on bool, and one of
  // real parts alone on the complex type made of them.
  DType type = DType::kInvalid;
  for (size_t i = 0; i < inputs.size() && type == DType::kInvalid; ++i) {
    if (signature.operands[i] == OperandRole::kValue) type = inputs[i];
  }
  if (type == DType::kInvalid && !inputs.empty()) {
    bool real_parts = signature.operands[0] == OperandRole::kReal;
    type = !real_parts                   ? DType::kBool
           : inputs[0] == DType::kFloat  ? DType::kComplex64
           : inputs[0] == DType::kDouble ? DType::kComplex128
                                         : DType::kInvalid;
  }
  if (!signature.types.contains(type)) return DType::kInvalid;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (operand_dtype(signature.operands[i], type) != inputs[i]) return DType::kInvalid;
  }
  return type;
}

Status formula_error(const OpDef& op) {
  Status status(Code::kInvalidArgument, std::string(op.compute.formula->error_message));
  status.detail()->op = op.name;
  return status;
}

namespace {

struct BroadcastDims {
  std::array<int64_t, kMaxRank> dims;
  int rank = 0;
};

Status incompatible_shapes(std::span<const Tensor* const> inputs) {
  std::string text = "Incompatible shapes: ";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) text += " vs. ";
    text += dims_to_string(inputs[i]->dims());
  }
  return Status(Code::kInvalidArgument, std::move(text));
}

bool broadcast_dims(std::span<const Tensor* const> inputs, BroadcastDims& result) {
  for (const Tensor* input : inputs) result.rank = std::max(result.rank, input->rank());
  std::fill_n(result.dims.begin(), result.rank, 1);
  for (const Tensor* input : inputs) {
    const int offset = result.rank - input->rank();
    for (int i = 0; i < input->rank(); ++i) {
      int64_t& dim = result.dims[static_cast<size_t>(offset) + static_cast<size_t>(i)];
      const int64_t own = input->dim(i);
      if (own == dim || own == 1) continue;
      if (dim != 1) return false;
      dim = own;
    }
  }
  return true;
}

}  // namespace

bool runs_as_formula(const OpDef& op, std::span<const DType> dtypes) {
  if (op.compute.kind != ComputeKind::kFormula) return false;
  return !op.compute.kernel || formula_dtype(*op.compute.formula, dtypes) != DType::kInvalid;
}

Status run_formula(const OpDef& op, std::span<const Tensor* const> inputs, Tensor& output) {
  const FormulaDescriptor& formula = *op.compute.formula;
  const size_t arity = inputs.size();
  if (arity > static_cast<size_t>(kMaxFormulaOperands)) {
    return Status(Code::kInternal, "Too many operands for a formula.");
  }
  std::array<DType, kMaxFormulaOperands> dtypes;
  for (size_t i = 0; i < arity; ++i) dtypes[i] = inputs[i]->dtype();
  const DType type = formula_dtype(formula, std::span(dtypes.data(), arity));
  if (type == DType::kInvalid || !formula.elementwise(type)) {
    return Status(Code::kUnimplemented, std::string(op.name) + " has no kernel for the dtype " +
                                            std::string(dtype_name(dtypes[0])) + ".");
  }
  BroadcastDims shape;
  if (!broadcast_dims(inputs, shape)) return incompatible_shapes(inputs);
  const std::span<const int64_t> dims(shape.dims.data(), static_cast<size_t>(shape.rank));
  const DType result_dtype = formula.result_dtype(type);
  if (!output || output.dtype() != result_dtype || !std::ranges::equal(output.dims(), dims)) {
    try {
      output = Tensor::empty(result_dtype, dims);
    } catch (...) {
      return status_of_exception();
    }
  }
  std::array<ElementwiseOperand, kMaxFormulaOperands> operands;
  for (size_t i = 0; i < arity; ++i) {
    operands[i].data = inputs[i]->raw_data();
    operands[i].dims = inputs[i]->dims();
  }
  int64_t error = run_elementwise(formula, type, output.mutable_raw_data(), dims,
                                  std::span(operands.data(), arity));
  return error >= 0 ? formula_error(op) : Status();
}

Status status_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return Status(error.shared_detail());
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "Out of memory.");
  } catch (const std::length_error&) {
    return Status(Code::kResourceExhausted, "Out of memory.");
  } catch (const std::exception& error) {
    return Status(Code::kInternal, error.what());
  }
}

Status call_kernel(Kernel kernel, KernelContext& context) {
  try {
    return kernel(context);
  } catch (...) {
    return status_of_exception();
  }
}

Status check_shapes(const OpDef& op, const Attributes& attributes,
                    std::span<const Tensor* const> inputs, std::span<ValueType> types) {
  if (!op.shape) return Status();
  try {
    std::vector<Operand> operands;
    operands.reserve(inputs.size());
    for (const Tensor* input : inputs) operands.emplace_back(*input);
    ShapeContext context(op, attributes, operands, types);
    op.shape.function()(context);
    return Status();
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace graphwright::runtime
