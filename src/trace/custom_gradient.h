// Gradients that the program defines itself (tf.custom_gradient), in graphs.
//
// What the program computes stays where it is; its results go through a call of an identity
// function, whose derivative is the traced gradient function. So tapes inside and outside the
// traced function, loops, branches, calls and higher derivatives treat it as any call.
#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ir/operand.h"
#include "ir/rule_context.h"

namespace graphwright {

// Results that equal `results`, and whose gradients with respect to `inputs` are those that
// `gradient` returns, one per input, null for none. It is called once, now, in a graph of its own,
// with one upstream gradient per result, null where the result's dtype has none; it may use any
// value that can be used here. The current context must build a graph. Throws what it throws.
OperandVector call_with_custom_gradient(
    std::span<const Operand> inputs, std::span<const Operand> results,
    FunctionRef<std::vector<Gradient>(std::span<const Gradient>)> gradient);

}  // namespace graphwright
