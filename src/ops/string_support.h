#pragma once

#include "ir/kernel_context.h"

namespace graphwright {

// What Equal and NotEqual do with strings, which their formulas do not take: whether the bytes of
// each pair of elements are the same (differ), broadcast as NumPy does.
Status string_equal(KernelContext& context);
Status string_not_equal(KernelContext& context);
// The same of SelectV2: the second input where the first, a bool, is true, else the third.
Status string_select(KernelContext& context);

}  // namespace graphwright
