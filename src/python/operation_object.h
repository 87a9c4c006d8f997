// tf.Operation as C++ makes it.
#pragma once

#include "ir/graph.h"
#include "python/python_api.h"

namespace graphwright {

// The operation that the value is an output of; a new reference, to the same object while somebody
// holds it. Throws Error.
PyObject* wrap_operation_of(const Value& value);
// The operation of a node that may have no outputs; a new reference.
PyObject* wrap_operation_of_node(const Node& node);
// The operation at a position of the graph's view (graph_object.h); a new reference.
PyObject* wrap_operation_at(Graph& graph, int position);
// Whether the object is a tf.Operation.
bool is_operation(PyObject* object);
// Its node: null for what stands for an argument, or is only in the exported form.
Node* node_of_operation(PyObject* operation);
Graph* graph_of_operation(PyObject* operation);
// "The name 'add' refers to an Operation..." and so on: what as_graph_element finds, or raises.
PyObject* graph_element(Graph& graph, PyObject* object, bool allow_tensor, bool allow_operation);

}  // namespace graphwright
