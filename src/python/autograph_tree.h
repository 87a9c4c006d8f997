// Python's `ast` objects to AutoGraph's table, and back.
#pragma once

#include <vector>

#include "autograph/node_table.h"
#include "python/python_api.h"

namespace graphwright {

struct PythonTree {
  autograph::NodeTable table;
  std::vector<Ref> constants;  // by Constant::external - 1
};

// Adds an `ast` node and all under it. Positions are moved down by `line_offset` lines.
// Throws Error; NotImplementedError for a node class of a newer Python.
autograph::NodeId walk_ast(PythonTree* tree, PyObject* node, int line_offset);

// The `ast` object of a node and all under it.
Ref emit_ast(const PythonTree& tree, autograph::NodeId node);

// An `ast.Module` of one function `ag_scope__(*variables)` whose body is the function `node`, or
// returns it when it is a lambda: compiled, it holds the code object whose free variables are those
// given.
Ref emit_module(const PythonTree& tree, autograph::NodeId node,
                const std::vector<std::string>& variables);

}  // namespace graphwright
