// Lists as vectors: zeros of a list's shapes, and sums. Elements may be lists themselves.
#pragma once

#include <memory>

#include "base/status.h"
#include "ir/resources.h"
#include "tensor/tensor.h"

namespace graphwright {

// The list that a handle refers to; null if it refers to none.
std::shared_ptr<ListObject> list_in(const Tensor& handle);

// A list of as many elements, each zeros of the shape of the same element of `list`. Where the
// list says what shape its elements have, they are not stored: what is not written reads as zero.
std::shared_ptr<ListObject> zeros_like_list(const ListObject& list);

// Adds the elements of `right` to those of `total`; what was never written counts as zeros.
// InvalidArgument when lengths, dtypes or shapes of elements differ.
Status add_to_list(ListObject& total, const ListObject& right);

}  // namespace graphwright
