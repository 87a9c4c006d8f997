// A GraphDef's nodes added to a graph that is being built. Nodes keep their names, below the
// prefix. Functional While, If and Case become control nodes with blocks, calls of library
// functions become calls of concrete functions; what only the exported form has (a loop's counter,
// the Identity behind a branch) is recognised and not added, so that exporting again gives the same
// nodes.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/operand.h"
#include "serial/graphdef.h"

namespace graphwright {

class GraphBuilder;
struct Node;

namespace serial {

struct ImportOptions {
  std::string prefix;  // a scope's whole path; "" for none
  // Tensors of the definition ("x", "x:1") or control inputs ("^x") and what stands for them.
  std::map<std::string, Operand> input_map;
};

struct ImportedNode {
  std::vector<Operand> outputs;
  Node* node = nullptr;  // null where only the exported form has one
};
using ImportedNodes = std::unordered_map<std::string, ImportedNode>;  // by name without prefix

// ValueError naming the node for anything that does not fit: unknown inputs, wrong numbers or
// dtypes of inputs, missing attributes, cycles, names that are not unique or taken; NotFound for an
// op that does not exist, or a function that the library lacks. What was added before the fault
// stays in the graph. Work is bounded by the size of what the definition says.
ImportedNodes import_graph(const GraphDef& definition, GraphBuilder& builder,
                           const ImportOptions& options);

}  // namespace serial
}  // namespace graphwright
