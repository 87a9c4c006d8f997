// Bindings of batching: what tf.vectorized_map is made of.
#include <nanobind/nanobind.h>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/thread_state.h"
#include "ops/batching.h"
#include "python/control_flow.h"
#include "python/errors.h"
#include "python/tensor_object.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// Null where an op cannot be vectorized; `reason` says which.
nb::object vectorize(nb::object traced_output, nb::list arguments, nb::list captures,
                     nb::object count) {
  auto* output = reinterpret_cast<SymbolicTensorObject*>(traced_output.ptr());
  const Graph& graph = *output->graph;
  std::vector<BatchedOperand> inputs;
  for (nb::handle argument : arguments) inputs.push_back({operand_in(argument.ptr()), true});
  for (nb::handle capture : captures) inputs.push_back({operand_in(capture.ptr()), false});
  Operand number = operand_of(count.ptr(), DType::kInt32);
  Builder& builder = current_builder();
  auto* graph_builder = dynamic_cast<GraphBuilder*>(&builder);
  if (!graph_builder) {
    OperandVector results = apply_batched(builder, graph, inputs, number);
    return nb::steal(wrap_list(results));
  }
  GraphBuilder::Mark mark = graph_builder->mark();
  try {
    return nb::steal(wrap_list(apply_batched(builder, graph, inputs, number)));
  } catch (...) {
    graph_builder->rollback(mark);
    throw;
  }
}

}  // namespace

void bind_vectorized_map(nb::module_& module) {
  module.def(
      "vectorize",
      [](nb::object output, nb::list arguments, nb::list captures, nb::object count) {
        try {
          return nb::make_tuple(vectorize(output, arguments, captures, count), nb::none());
        } catch (const Error& error) {
          if (error.detail().code != Code::kUnimplemented) throw;
          return nb::make_tuple(nb::none(), nb::str(error.what()));
        }
      },
      "(results, None), or (None, reason) where an op cannot be vectorized.");
}

}  // namespace graphwright
