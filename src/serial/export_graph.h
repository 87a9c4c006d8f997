// A graph as a GraphDef, with TensorFlow's op names, node names and conventions:
//   arguments and captures are Placeholders, results Identity nodes;
//   effects keep their order by control inputs, from the dependence function, and every node with
//     effects hangs on a NoOp that the results wait for;
//   If, While and Case become functions of the library, whose captures are further inputs, and
//     Stateless... where nothing in them is stateful. While has a counter and the maximum number of
//     iterations before its carried values;
//   calls become PartitionedCall with the callee in the library.
#pragma once

#include <string>

#include "serial/graphdef.h"

namespace graphwright {

class Graph;

namespace serial {

GraphDef export_graph(const Graph& graph);

}  // namespace serial

// The serialized message. InvalidArgument for a constant that refers to an object.
std::string graph_to_graphdef(const Graph& graph);

}  // namespace graphwright
