// The control-flow graph of one function: which simple statement or test may follow which.
//
// Exceptions are left out, except those that `raise` names: a call never leads to a handler. A
// `with`, `try`, loop or conditional has no point of its own; its tests, items and statements do.
#pragma once

#include <unordered_map>
#include <vector>

#include "autograph/node_table.h"

namespace graphwright::autograph {

struct ControlFlowGraph {
  struct Point {
    NodeId node;  // what runs here
    std::vector<uint32_t> next;
    std::vector<uint32_t> previous;
  };
  std::vector<Point> points;  // in the order of the text; 0 is the entry (the function's arguments)
  std::vector<uint32_t> exits;
  std::unordered_map<NodeId, uint32_t> index;
  // For a compound statement: the points outside it that lead into it, and that it leads to.
  std::unordered_map<NodeId, std::vector<uint32_t>> before;
  std::unordered_map<NodeId, std::vector<uint32_t>> after;
};

// Graphs of every function and lambda in the tree, by node.
std::unordered_map<NodeId, ControlFlowGraph> build_control_flow_graphs(const NodeTable& table,
                                                                       NodeId root);

}  // namespace graphwright::autograph
