// tf.Graph as C++ sees it. Everything here needs the GIL and throws Error.
#pragma once

#include <memory>

#include "ir/graph.h"
#include "python/python_api.h"

namespace graphwright {

// The Python object of a graph: the same one while somebody holds it. New reference.
PyObject* wrap_graph(std::shared_ptr<Graph> graph);

}  // namespace graphwright
