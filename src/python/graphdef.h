// Graphs as GraphDef messages for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace graphwright {

class Graph;

// The serialized message, as bytes. The GIL is held; throws Error.
nanobind::bytes graphdef_bytes(const Graph& graph);
// A message of graphwright._protobuf's own GraphDef class; loads protobuf on first use.
nanobind::object graphdef_message(const Graph& graph);

// The graph as a FunctionDef message.
nanobind::object functiondef_message(const Graph& graph);

}  // namespace graphwright
