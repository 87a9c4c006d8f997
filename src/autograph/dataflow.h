// What is live, and what may be defined, around the control flow of a function.
#pragma once

#include <unordered_map>

#include "autograph/activity.h"
#include "autograph/control_flow_graph.h"

namespace graphwright::autograph {

// Of one if, while or for statement.
struct StatementFlow {
  SymbolSet live_in;     // read later on some path from its entry, before being written
  SymbolSet live_out;    // the same from its end
  SymbolSet defined_in;  // may have a definition when it is entered
};

// For every if, while and for under `root` that belongs to a function. A nested function counts as
// used wherever it may exist, so what it reads is live there; a lambda counts as used where it
// stands.
std::unordered_map<NodeId, StatementFlow> analyse_dataflow(const NodeTable& table,
                                                           const Activity& activity, NodeId root);

}  // namespace graphwright::autograph
