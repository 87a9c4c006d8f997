// Names of the functions of exported libraries. A process of TensorFlow's takes a function's name
// once, so two graphs of this process never share one; exporting a graph again gives the same.
#pragma once

#include <string>

#include "ir/graph.h"

namespace graphwright::serial {

// The function that a control node's block becomes: `stem` and a number. The same block has the
// same name for as long as nothing is added to it.
std::string control_function_name(const Block& block, const std::string& stem);

// A called graph's function: `wanted`, or with a number where another graph has that name.
std::string callee_function_name(const Graph& graph, const std::string& wanted);

}  // namespace graphwright::serial
