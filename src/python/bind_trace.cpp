// Bindings of src/trace: build contexts, functions and their traces.
#include <memory>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "ir/node_names.h"
#include "ir/opdef.h"
#include "ir/text.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/graph_object.h"
#include "python/graphdef.h"
#include "python/polymorphic_function.h"
#include "python/tensor_object.h"
#include "python/trace_module.h"
#include "trace/build_context.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// A graph with the context that builds it, if the program builds it by hand.
struct GraphObject {
  std::shared_ptr<Graph> graph;
  std::unique_ptr<BuildContext> context;
};

// Context managers are entered and left by Python: what they do lies between the two calls.
class InitScopeManager {
 public:
  void enter() { scopes_.push_back(std::make_shared<InitScope>()); }
  void exit(nb::args) { scopes_.pop_back(); }

 private:
  std::vector<std::shared_ptr<InitScope>> scopes_;
};

class GraphScopeManager {
 public:
  explicit GraphScopeManager(std::shared_ptr<GraphObject> object) : object_(std::move(object)) {}
  std::shared_ptr<GraphObject> enter() {
    if (!object_->context) {
      if (object_->graph->frozen()) {
        throw Error(ErrorKind::kRuntimeError,
                    "The graph of a traced function is finished and cannot be built on.");
      }
      object_->context = std::make_unique<BuildContext>(ContextKind::kGraph, object_->graph,
                                                        VariableCreation::kLift);
    }
    scopes_.push_back(std::make_shared<ContextScope>(*object_->context));
    return object_;
  }
  void exit(nb::args) { scopes_.pop_back(); }

 private:
  std::shared_ptr<GraphObject> object_;
  std::vector<std::shared_ptr<ContextScope>> scopes_;
};

nb::object capture_list(const Graph& graph) {
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

}  // namespace

PyObject* wrap_graph(std::shared_ptr<Graph> graph) {
  auto object = std::make_shared<GraphObject>();
  object->graph = std::move(graph);
  return nb::cast(std::move(object)).release().ptr();
}

void bind_trace(nb::module_& module) {
  nb::class_<GraphObject>(module, "Graph",
                          "A graph of ops. `with graph.as_default():` builds it by hand; those of "
                          "traced functions are finished.")
      .def("__init__",
           [](GraphObject* self) {
             new (self) GraphObject{std::make_shared<Graph>("graph"), nullptr};
           })
      .def(
          "as_default",
          [](std::shared_ptr<GraphObject> self) { return GraphScopeManager(std::move(self)); },
          "A context manager in which ops become nodes of this graph.")
      .def_prop_ro("name", [](const GraphObject& self) { return self.graph->name(); })
      .def_prop_ro("finalized", [](const GraphObject& self) { return self.graph->frozen(); })
      .def_prop_ro(
          "captures", [](const GraphObject& self) { return capture_list(*self.graph); },
          "(outer tensor, inner tensor) pairs.")
      .def(
          "as_graph_def", [](const GraphObject& self) { return graphdef_message(*self.graph); },
          "The graph as traced, as a GraphDef message with TensorFlow's op and node names.")
      .def(
          "_to_text", [](const GraphObject& self) { return graph_to_text(*self.graph); },
          "The graph as versioned text.")
      .def(
          "_operation_rows", [](const GraphObject& self) { return operation_rows(*self.graph); },
          "(name, op, names of inputs) of every node at the top level, in order.");
  nb::class_<GraphScopeManager>(module, "_GraphScope")
      .def("__enter__", &GraphScopeManager::enter)
      .def("__exit__", &GraphScopeManager::exit);
  nb::class_<InitScopeManager>(module, "init_scope",
                               "A context manager that lifts what is done in it out of every "
                               "function being traced: eager again, and hidden from tapes.")
      .def(nb::init<>())
      .def("__enter__", &InitScopeManager::enter)
      .def("__exit__", &InitScopeManager::exit);
  module.def(
      "executing_eagerly", [] { return current_context().is_eager(); },
      "Whether ops run at once: False while a function is traced or a graph is built.");
  module.def(
      "inside_function", [] { return current_context().kind() == ContextKind::kFunction; },
      "Whether a function is being traced.");
  module.def("set_functions_run_eagerly",
             [](bool eagerly) { functions_run_eagerly.store(eagerly); });
  module.def("functions_run_eagerly", [] { return functions_run_eagerly.load(); });
  create_function_type(module.ptr());
  create_concrete_function_type(module.ptr());
}

}  // namespace graphwright
