// x[i], x[i, j]: a StridedSlice that only picks one position in each leading dimension. As a kernel
// it would pack its indices into vectors first; in a plan it is one instruction.
#pragma once

#include "runtime/frame.h"
#include "runtime/plan_tree.h"

namespace graphwright::runtime {

// Marks such nodes, whose inputs become the sliced value and then the indices: scalars of an
// integer dtype. Only where the shapes of all are known when a run starts.
void find_row_slices(PlanTree& tree);

// Copies the row. InvalidArgument for an index out of bounds, in the kernel's own words.
Status run_row_slice(const RowSlice& slice, Frame& frame, const Node& node);

}  // namespace graphwright::runtime
