// The last step of lowering: instructions from the tree and its slots.
#pragma once

#include <memory>

#include "runtime/program.h"

namespace graphwright::runtime {

// `family`: plans of callees, shared with the plan that this one is compiled for; null for an
// outermost plan. `sized`: with a prologue, if shapes of arguments are not known.
std::shared_ptr<Plan> lower_graph(const Graph& graph, CalleePlans* family, bool sized = true);

}  // namespace graphwright::runtime
