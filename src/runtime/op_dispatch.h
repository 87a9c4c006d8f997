// From an op row and tensors to its kernel: what eager execution and plans share.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "ir/kernel_context.h"
#include "ir/opdef.h"
#include "ir/value_type.h"
#include "kernels/formula_kernels.h"
#include "tensor/tensor.h"

namespace graphwright::runtime {

// The dtype T that the formula runs on for inputs of these dtypes; kInvalid when they do not agree
// with its signature.
DType formula_dtype(const FormulaDescriptor& formula, std::span<const DType> inputs);

// Whether the op runs its formula on inputs of these dtypes, rather than the kernel next to it.
bool runs_as_formula(const OpDef& op, std::span<const DType> dtypes);

// Broadcasts the inputs together and runs the op's formula on them. `output` is allocated unless it
// has the right dtype and dims already. InvalidArgument "Incompatible shapes: [2] vs. [3]" where
// they do not broadcast, and for integer division by zero.
Status run_formula(const OpDef& op, std::span<const Tensor* const> inputs, Tensor& output);

// The message of an element in error.
Status formula_error(const OpDef& op);

// Calls the kernel; what it throws becomes a Status.
Status call_kernel(Kernel kernel, KernelContext& context);

// Runs the op's shape rule on tensors, for its checks; `types` come with their dtypes set.
Status check_shapes(const OpDef& op, const Attributes& attributes,
                    std::span<const Tensor* const> inputs, std::span<ValueType> types);

// The current exception as a Status.
Status status_of_exception();

}  // namespace graphwright::runtime
