// tf.Graph as C++ sees it. Everything here needs the GIL and throws Error.
#pragma once

#include <memory>

#include "ir/graph.h"
#include "python/python_api.h"

namespace graphwright {

class NodeNames;
namespace serial {
class GraphView;
}

// The Python object of a graph: the same one while somebody holds it. New reference.
PyObject* wrap_graph(std::shared_ptr<Graph> graph);
// The same; the object remembers the concrete function that the graph is the trace of.
PyObject* wrap_traced_graph(std::shared_ptr<Graph> graph, PyObject* concrete_function);

// The graph of a tf.Graph; TypeError for anything else.
std::shared_ptr<Graph> graph_of_object(PyObject* object);

// What the graph shows: made when first asked for, and again after the graph has grown. Valid until
// then.
const serial::GraphView& view_of(Graph& graph);
const NodeNames& names_of(Graph& graph);

}  // namespace graphwright
