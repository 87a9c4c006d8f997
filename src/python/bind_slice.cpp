// Parts of graphs as functions: what prune() gives.
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "ir/node_names.h"
#include "python/concrete_function_object.h"
#include "python/errors.h"
#include "python/operation_object.h"
#include "python/tensor_object.h"
#include "trace/concrete_function.h"
#include "trace/graph_slice.h"
#include "trace/scope_errors.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

Value* value_of(nb::handle tensor) {
  if (!is_symbolic_tensor(tensor.ptr())) {
    throw_type_error("feeds and fetches must be tensors of a graph, not " + repr_of(tensor.ptr()));
  }
  return operand_in(tensor.ptr()).value();
}

// A concrete function of `feeds` that returns `fetches`, a structure of tensors, after running
// `operations` too. `function` takes any arguments and gives the parameters their names.
nb::object slice_function(nb::object function, const std::string& name, nb::list feeds,
                          nb::object fetches, nb::list operations) {
  std::vector<Value*> fed, fetched;
  for (nb::handle feed : feeds) fed.push_back(value_of(feed));
  auto collect = [&](PyObject* leaf) {
    fetched.push_back(value_of(leaf));
    return Ref::borrow(leaf);
  };
  replace_leaves(fetches.ptr(), Leaves::kTensors, collect);
  std::vector<const Node*> nodes;
  Graph* graph = nullptr;
  for (nb::handle operation : operations) {
    graph = graph_of_operation(operation.ptr());
    if (const Node* node = node_of_operation(operation.ptr())) nodes.push_back(node);
  }
  for (Value* value : fed) graph = value->block->graph;
  for (Value* value : fetched) graph = value->block->graph;
  if (!graph) throw_value_error("prune() was given neither feeds nor fetches");
  for (const auto& list : {fed, fetched}) {
    for (const Value* value : list) {
      if (value->block->graph != graph) {
        throw_value_error("Tensor " + value_name(*value) + " is not an element of this graph.");
      }
    }
  }
  std::shared_ptr<Graph> slice = slice_graph(*graph, next_graph_name(name), fed, fetched, nodes);

  auto trace = std::make_shared<Trace>();
  nb::list arguments;
  for (size_t i = 0; i < fed.size(); ++i) {
    Value* argument = slice->body().arguments[i];
    trace->input_types.push_back(argument->type);
    trace->input_names.emplace_back(argument->name.view());
    arguments.append(nb::steal(wrap(Operand(argument))));
  }
  nb::tuple kept = nb::make_tuple(nb::tuple(arguments), nb::dict());
  trace->arguments = Ref::borrow(kept.ptr());
  size_t next = 0;
  auto replace = [&](PyObject*) {
    return Ref::steal(wrap(Operand(slice->body().results[next++])));
  };
  trace->result = replace_leaves(fetches.ptr(), Leaves::kTensors, replace);
  trace->result_shape = trace->result.get() == Py_None   ? Trace::Shape::kNone
                        : is_tensor(trace->result.get()) ? Trace::Shape::kTensor
                                                         : Trace::Shape::kStructure;
  trace->concrete = std::make_shared<ConcreteFunction>(slice, static_cast<int>(fed.size()));
  FunctionOptions options;
  options.autograph = false;
  auto polymorphic =
      std::make_shared<PolymorphicFunction>(function.ptr(), name, std::move(options), false);
  return nb::steal(make_concrete_function(std::move(polymorphic), std::move(trace), nullptr));
}

}  // namespace

void bind_slice(nb::module_& module) {
  module.def("slice_function", &slice_function, nb::arg("function"), nb::arg("name"),
             nb::arg("feeds"), nb::arg("fetches").none(), nb::arg("operations"));
}

}  // namespace graphwright
