// Python source text of a tree: exactly what Python 3.11's `ast.unparse` prints, on every Python
// version.
#pragma once

#include <string>

#include "autograph/node_table.h"

namespace graphwright::autograph {

// `node` is an expression or a statement; statements start at `indent` levels of four spaces, with
// the newline that `ast.unparse` puts before every statement but the first of the text. Throws
// Error (ValueError) for an f-string that Python 3.11 cannot write.
std::string unparse(const NodeTable& table, NodeId node, int indent = 0);

}  // namespace graphwright::autograph
