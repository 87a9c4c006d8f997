// The Python type Graph.
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "ir/node_names.h"
#include "ir/opdef.h"
#include "ir/text.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/graph_companion.h"
#include "python/graph_object.h"
#include "python/graphdef.h"
#include "python/name_scope.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"
#include "serial/export_graph.h"
#include "serial/export_opdef.h"
#include "trace/build_context.h"

namespace nb = nanobind;

namespace graphwright {

// A graph, with the context that builds it if the program builds it by hand.
struct GraphObject {
  explicit GraphObject(std::shared_ptr<Graph> of) : graph(std::move(of)) {
    companion_of(*graph).graph_object = this;
  }
  ~GraphObject() {
    GraphCompanion& companion = companion_of(*graph);
    if (companion.graph_object == this) companion.graph_object = nullptr;
  }
  GraphObject(const GraphObject&) = delete;
  GraphObject& operator=(const GraphObject&) = delete;

  std::shared_ptr<Graph> graph;
  std::unique_ptr<BuildContext> context;
  nb::object concrete_function;  // whose trace it is; none otherwise
  nb::dict collections;
};

namespace {

using Version = GraphCompanion::Version;

Version version_of(const Graph& graph) {
  const Block& body = graph.body();
  return {graph.node_count() + 1, graph.scopes().size(), body.nodes.size(), body.arguments.size(),
          body.results.size()};
}

class GraphScopeManager {
 public:
  explicit GraphScopeManager(nb::object object) : object_(std::move(object)) {}
  nb::object enter() {
    auto& object = nb::cast<GraphObject&>(object_);
    if (!object.context) {
      if (object.graph->frozen() && !object.graph->built_by_hand()) {
        throw Error(ErrorKind::kRuntimeError,
                    "The graph of a traced function is finished and cannot be built on.");
      }
      object.context = std::make_unique<BuildContext>(ContextKind::kGraph, object.graph,
                                                      VariableCreation::kLift);
    }
    scopes_.push_back(std::make_shared<ContextScope>(*object.context));
    return object_;
  }
  void exit(nb::args) { scopes_.pop_back(); }

 private:
  nb::object object_;
  std::vector<std::shared_ptr<ContextScope>> scopes_;
};

nb::list capture_list(const Graph& graph) {
  nb::list list;
  for (const Capture& capture : graph.captures()) {
    nb::object outer =
        nb::steal(wrap(capture.outer ? Operand(capture.outer) : Operand(capture.tensor)));
    nb::object inner = nb::steal(wrap(Operand(capture.inner)));
    list.append(nb::make_tuple(outer, inner));
  }
  return list;
}

nb::list operation_rows(const Graph& graph) {
  NodeNames names(graph);
  nb::list rows;
  for (const Value* argument : graph.body().arguments) {
    rows.append(nb::make_tuple(names.argument_name(*argument), "Placeholder", nb::list()));
  }
  for (const Node* node : graph.body().nodes) {
    nb::list inputs;
    for (const Value* input : node->inputs) inputs.append(names.value_name(*input));
    rows.append(nb::make_tuple(names.name(*node), std::string(node->op->name), inputs));
  }
  return rows;
}

nb::list operation_list(const GraphObject& self) {
  nb::list operations;
  size_t count = view_of(*self.graph).operations().size();
  for (size_t i = 0; i < count; ++i) {
    operations.append(nb::steal(wrap_operation_at(*self.graph, static_cast<int>(i))));
  }
  return operations;
}

[[noreturn]] void throw_name_type(const char* what, nb::handle name) {
  throw_type_error(std::string(what) + " names are strings (or similar), not " +
                   type_name(name.ptr()) + ".");
}

nb::object tensor_by_name(const GraphObject& self, nb::handle name) {
  if (!nb::isinstance<nb::str>(name)) throw_name_type("Tensor", name);
  return nb::steal(graph_element(*self.graph, name.ptr(), true, false));
}

nb::object operation_by_name(const GraphObject& self, nb::handle name) {
  if (!nb::isinstance<nb::str>(name)) throw_name_type("Operation", name);
  return nb::steal(graph_element(*self.graph, name.ptr(), false, true));
}

// A property that the concrete function has under the same or another name.
nb::object of_function(const GraphObject& self, const char* name) {
  if (!self.concrete_function.is_valid()) {
    throw Error(ErrorKind::kAttributeError, std::string("'Graph' object has no attribute '") +
                                                name +
                                                "': only graphs of traced functions have it");
  }
  return self.concrete_function.attr(name);
}

std::string shown_name(const Graph& graph) {
  constexpr std::string_view kPrefix = "__inference_";
  std::string_view name = graph.name();
  if (name.starts_with(kPrefix)) {
    name.remove_prefix(kPrefix.size());
    name = name.substr(0, name.rfind('_'));
  }
  return std::string(name);
}

// A name that nothing in the graph has. TensorFlow remembers names that were asked for; here a name
// is taken by what uses it.
std::string unique_name(const GraphObject& self, const std::string& name, bool) {
  const BuildContext& context = current_context();
  std::string scope = context.graph() == self.graph ? current_scope_path() : "";
  NodeNames names(*self.graph);
  return names.take(self.graph->body(), scope + name);
}

nb::object graph_def(const GraphObject& self, nb::object, bool add_shapes) {
  nb::object message = graphdef_message(*self.graph);
  if (!add_shapes) return message;
  const serial::GraphView& view = view_of(*self.graph);
  nb::object nodes = message.attr("node");
  size_t position = 0;
  for (nb::handle node : nodes) {
    nb::object attributes = nb::handle(node).attr("attr");
    serial::ListValue shapes = serial::shape_list(view.operations()[position++].outputs);
    for (PartialShape& shape : shapes.shapes) shape = shape.without_symbols();
    std::string bytes = serial::encode(serial::AttrValue{shapes});
    nb::object value = attributes[nb::str("_output_shapes")];
    value.attr("MergeFromString")(nb::bytes(bytes.data(), bytes.size()));
  }
  return message;
}

// Methods written in Python, in graphwright/graph_methods.py, which is loaded when one is called.
void bind_python_methods(nb::class_<GraphObject>& type) {
  for (const char* name :
       {"control_dependencies", "name_scope", "device", "colocate_with", "container",
        "prevent_feeding", "prevent_fetching", "is_feedable", "is_fetchable", "create_op",
        "new_operations", "gradient_override_map", "switch_to_thread_local", "get", "Dismantle"}) {
    type.def(name, [name](nb::object self, nb::args arguments, nb::kwargs keywords) {
      nb::object method = nb::module_::import_("graphwright.graph_methods").attr(name);
      return nb::object(method(self, *arguments, **keywords));
    });
  }
}

void bind_lookup(nb::class_<GraphObject>& type) {
  type.def("get_operations", &operation_list, "Every operation, in order.")
      .def_prop_ro("operations", &operation_list, "Every operation, in order.")
      .def("num_operations",
           [](const GraphObject& self) { return view_of(*self.graph).operations().size(); })
      .def("get_operation_by_name", &operation_by_name, nb::arg("name"),
           "The operation of this name; KeyError if there is none.")
      .def("get_tensor_by_name", &tensor_by_name, nb::arg("name"),
           "The tensor \"operation:0\"; KeyError if there is none.")
      .def(
          "as_graph_element",
          [](const GraphObject& self, nb::object object, bool allow_tensor, bool allow_operation) {
            return nb::steal(
                graph_element(*self.graph, object.ptr(), allow_tensor, allow_operation));
          },
          nb::arg("obj").none(), nb::arg("allow_tensor") = true, nb::arg("allow_operation") = true,
          "The tensor or operation that an object or a name stands for.")
      .def(
          "op_def_for_type",
          [](const GraphObject&, const std::string& op) {
            std::string bytes = serial::encode_op_def(get_op(op), op);
            nb::object parse = nb::module_::import_("graphwright._protobuf").attr("message_class");
            return parse("OpDef").attr("FromString")(nb::bytes(bytes.data(), bytes.size()));
          },
          nb::arg("type"));
}

void bind_collections(nb::class_<GraphObject>& type) {
  auto add = [](GraphObject& self, nb::object name, nb::object value) {
    if (!self.collections.contains(name)) self.collections[name] = nb::list();
    nb::cast<nb::list>(self.collections[name]).append(value);
  };
  type.def("add_to_collection", add, nb::arg("name"), nb::arg("value").none())
      .def(
          "add_to_collections",
          [add](GraphObject& self, nb::object names, nb::object value) {
            if (nb::isinstance<nb::str>(names)) return add(self, names, value);
            for (nb::handle name : names) add(self, nb::borrow(name), value);
          },
          nb::arg("names"), nb::arg("value").none())
      .def(
          "get_collection",
          [](const GraphObject& self, nb::object name, nb::object scope) {
            nb::list result;
            if (!self.collections.contains(name)) return result;
            for (nb::handle item : nb::cast<nb::list>(self.collections[name])) {
              if (!scope.is_none() && nb::hasattr(item, "name")) {
                nb::object match = nb::module_::import_("re").attr("match");
                if (match(scope, item.attr("name")).is_none()) continue;
              }
              result.append(item);
            }
            return result;
          },
          nb::arg("name"), nb::arg("scope").none() = nb::none(), "A copy of the collection.")
      .def(
          "get_collection_ref",
          [](GraphObject& self, nb::object name) {
            if (!self.collections.contains(name)) self.collections[name] = nb::list();
            return nb::object(self.collections[name]);
          },
          nb::arg("name"), "The collection itself.")
      .def("get_all_collection_keys",
           [](const GraphObject& self) { return self.collections.keys(); })
      .def_prop_ro("collections", [](const GraphObject& self) { return self.collections.keys(); })
      .def(
          "clear_collection",
          [](GraphObject& self, nb::object name) {
            if (self.collections.contains(name)) {
              nb::del(self.collections[name]);
            }
          },
          nb::arg("name"));
}

void bind_function_graph(nb::class_<GraphObject>& type) {
  auto property = [&](const char* name) {
    type.def_prop_ro(name, [name](const GraphObject& self) { return of_function(self, name); });
  };
  for (const char* name : {"inputs", "outputs", "structured_outputs", "structured_input_signature",
                           "variables", "trainable_variables"}) {
    property(name);
  }
  auto captured = [](size_t position) {
    return [position](const GraphObject& self) {
      nb::list list;
      for (nb::handle pair : capture_list(*self.graph)) list.append(pair[position]);
      return list;
    };
  };
  type.def_prop_ro(
          "captures", [](const GraphObject& self) { return capture_list(*self.graph); },
          "(outer tensor, inner tensor) pairs.")
      .def_prop_ro("external_captures", captured(0))
      .def_prop_ro("internal_captures", captured(1));
}

}  // namespace

GraphCompanion& companion_of(Graph& graph) {
  std::shared_ptr<void>& companion = graph.companion();
  if (!companion) companion = std::make_shared<GraphCompanion>();
  return *static_cast<GraphCompanion*>(companion.get());
}

const serial::GraphView& view_of(Graph& graph) {
  GraphCompanion& companion = companion_of(graph);
  Version version = version_of(graph);
  if (!companion.view || !(companion.view_version == version)) {
    companion.view = std::make_unique<serial::GraphView>(graph, companion.shown_nodes);
    companion.view_version = version;
    std::erase_if(companion.operations, [](const auto& entry) { return entry.second.expired(); });
  }
  return *companion.view;
}

const NodeNames& names_of(Graph& graph) {
  GraphCompanion& companion = companion_of(graph);
  Version version = version_of(graph);
  if (!companion.names || !(companion.names_version == version)) {
    companion.names = std::make_unique<NodeNames>(graph);
    companion.names_version = version;
  }
  return *companion.names;
}

PyObject* wrap_graph(std::shared_ptr<Graph> graph) {
  if (GraphObject* known = companion_of(*graph).graph_object) {
    nb::object found = nb::find(known);
    if (found.is_valid()) return found.release().ptr();
  }
  return nb::cast(new GraphObject(std::move(graph)), nb::rv_policy::take_ownership).release().ptr();
}

std::shared_ptr<Graph> graph_of_object(PyObject* object) {
  if (!nb::isinstance<GraphObject>(nb::handle(object))) {
    throw_type_error("a tf.Graph was expected, not " + repr_of(object));
  }
  return nb::cast<const GraphObject&>(nb::handle(object)).graph;
}

PyObject* wrap_traced_graph(std::shared_ptr<Graph> graph, PyObject* concrete_function) {
  nb::object object = nb::steal(wrap_graph(std::move(graph)));
  nb::cast<GraphObject&>(object).concrete_function = nb::borrow(concrete_function);
  return object.release().ptr();
}

void bind_graph(nb::module_& module) {
  nb::class_<GraphObject> type(module, "Graph",
                               "A graph of ops. `with graph.as_default():` builds it by hand; "
                               "those of traced functions are finished.",
                               nb::is_weak_referenceable(), nb::dynamic_attr());
  type.def("__init__",
           [](GraphObject* self) {
             auto graph = std::make_shared<Graph>("graph");
             graph->set_built_by_hand();
             new (self) GraphObject(std::move(graph));
           })
      .def(
          "as_default", [](nb::object self) { return GraphScopeManager(std::move(self)); },
          "A context manager in which ops become nodes of this graph.")
      .def_prop_ro("name", [](const GraphObject& self) { return shown_name(*self.graph); })
      .def_prop_ro("building_function",
                   [](const GraphObject& self) { return !self.graph->built_by_hand(); })
      .def_prop_ro("finalized",
                   [](const GraphObject& self) {
                     return self.graph->frozen() && self.graph->built_by_hand();
                   })
      .def(
          "finalize", [](const GraphObject& self) { self.graph->freeze(); },
          "Nothing may be added any more: RuntimeError if something is.")
      .def_prop_ro("version",
                   [](const GraphObject& self) { return view_of(*self.graph).operations().size(); })
      .def_prop_ro("graph_def_versions",
                   [](const GraphObject& self) {
                     return nb::object(graphdef_message(*self.graph).attr("versions"));
                   })
      .def_prop_ro("seed", [](const GraphObject&) { return nb::none(); })
      .def(
          "get_name_scope",
          [](const GraphObject& self) {
            if (current_context().graph() != self.graph) return std::string();
            std::string path = current_scope_path();
            if (!path.empty()) path.pop_back();
            return path;
          },
          "The name scope that nodes are made in now, without the slash.")
      .def("unique_name", &unique_name, nb::arg("name"), nb::arg("mark_as_used") = true,
           "A name that nothing in the graph has.")
      .def("as_graph_def", &graph_def, nb::arg("from_version").none() = nb::none(),
           nb::arg("add_shapes") = false,
           "The graph as traced, as a GraphDef message with TensorFlow's op and node names.")
      .def(
          "_to_text", [](const GraphObject& self) { return graph_to_text(*self.graph); },
          "The graph as versioned text.")
      .def(
          "_operation_rows", [](const GraphObject& self) { return operation_rows(*self.graph); },
          "(name, op, names of inputs) of every node at the top level, in order.");
  bind_lookup(type);
  bind_collections(type);
  bind_function_graph(type);
  bind_python_methods(type);
  nb::class_<GraphScopeManager>(module, "_GraphScope")
      .def("__enter__", &GraphScopeManager::enter)
      .def("__exit__", &GraphScopeManager::exit);
  module.def("get_default_graph", []() -> nb::object {
    const std::shared_ptr<Graph>& graph = current_context().graph();
    if (graph) return nb::steal(wrap_graph(graph));
    return nb::none();
  });
}

}  // namespace graphwright
