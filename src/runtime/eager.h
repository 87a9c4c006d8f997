// Eager execution: an op by its row, in one step to its kernel.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/opdef.h"

namespace graphwright {

// Runs one op now. Observers are told if the thread's state asks for it. Throws Error.
void run_eager(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
               OperandVector& outputs);

// The short way for elementwise ops on one tensor, or on two of equal dtype and shape (or one of
// them 0-d): null when anything is out of the ordinary (state bits, dtypes or shapes differ, no
// native kernel), and the caller takes run_eager. Never throws except for memory.
TensorImpl* try_fast_binary(const OpDef& op, TensorImpl* left, TensorImpl* right);
TensorImpl* try_fast_unary(const OpDef& op, TensorImpl* operand);

// The process's one eager builder (stateless).
Builder& eager_builder();

}  // namespace graphwright
