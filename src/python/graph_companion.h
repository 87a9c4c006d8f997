// Internal to the Python types of graphs: what Python keeps with a graph.
#pragma once

#include <map>
#include <memory>

#include "ir/graph.h"
#include "ir/node_names.h"
#include "python/python_api.h"
#include "serial/graph_view.h"

namespace graphwright {

struct GraphObject;
struct Operation;

struct GraphCompanion {
  // What the graph was when the view and names were made.
  struct Version {
    uint32_t node_count = 0;
    size_t scopes = 0, nodes = 0, arguments = 0, results = 0;
    bool operator==(const Version&) const = default;
  };
  Version view_version, names_version;
  std::unique_ptr<serial::GraphView> view;
  std::unique_ptr<NodeNames> names;
  serial::ShownNodes shown_nodes;
  // The operations that Python holds. Expired ones are taken out when the view is made again.
  std::map<serial::OperationKey, std::weak_ptr<Operation>> operations;
  GraphObject* graph_object = nullptr;  // of tf.Graph, while there is one
};

GraphCompanion& companion_of(Graph& graph);

}  // namespace graphwright
