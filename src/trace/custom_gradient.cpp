#include "trace/custom_gradient.h"

#include <atomic>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "autodiff/gradient_map.h"
#include "base/status.h"
#include "ir/opdef.h"
#include "trace/build_context.h"
#include "trace/concrete_function.h"

namespace graphwright {
namespace {

// One use of a custom gradient. The identity function takes the inputs, the results and what the
// gradient uses (saved values), and returns the results.
struct CustomGradient {
  std::string name;
  std::vector<ValueType> input_types, result_types, saved_types;
  std::vector<int> input_indices;  // inputs with a gradient
  // Upstream gradients of the differentiable results, then saved values.
  std::shared_ptr<ConcreteFunction> backward;
};

bool is_differentiable(const ValueType& type) {
  return type.dtype != DType::kResource && can_have_gradient(type);
}

// The identity function, which hands out the saved values `copies` times behind the results: a
// derivative needs them once more than what it is the derivative of.
std::shared_ptr<ConcreteFunction> identity_function(std::shared_ptr<const CustomGradient> custom,
                                                    int copies);

std::shared_ptr<const ConcreteFunction::Differentiable> derivative_of_identity(
    const std::shared_ptr<const CustomGradient>& custom, int copies) {
  auto made = std::make_shared<ConcreteFunction::Differentiable>();
  ReverseDerivative& derivative = made->derivative;
  made->forward = identity_function(custom, copies + 1);
  derivative.forward = made->forward->graph();
  derivative.saved_count = static_cast<int>(custom->saved_types.size());
  derivative.argument_indices = custom->input_indices;
  size_t result_count = custom->result_types.size(), saved_count = custom->saved_types.size();
  for (size_t i = 0; i < result_count; ++i) {
    if (is_differentiable(custom->result_types[i])) {
      derivative.result_indices.push_back(static_cast<int>(i));
    }
  }
  derivative.is_sparse.assign(derivative.argument_indices.size(), false);
  if (copies == 0) {
    made->backward = custom->backward;
    derivative.backward = made->backward->graph();
    return made;
  }
  // Gradients also arrive for the saved values that were handed out: they go on to where those
  // came from.
  auto graph = std::make_shared<Graph>(custom->name + "__backward");
  Block& body = graph->body();
  OperandVector arguments;
  for (int i : derivative.result_indices) {
    arguments.emplace_back(
        graph->add_argument(body, custom->result_types[static_cast<size_t>(i)], "grad"));
  }
  GraphBuilder builder(*graph);
  std::vector<Gradient> sums(saved_count);
  for (int copy = 0; copy < copies; ++copy) {
    for (size_t k = 0; k < saved_count; ++k) {
      if (!is_differentiable(custom->saved_types[k])) continue;
      size_t position = result_count + static_cast<size_t>(copy) * saved_count + k;
      derivative.result_indices.push_back(static_cast<int>(position));
      Gradient gradient{Operand(graph->add_argument(body, custom->saved_types[k], "grad")), {}, {}};
      sums[k] = sums[k] ? add_gradients(builder, sums[k], gradient) : gradient;
    }
  }
  for (const ValueType& type : custom->saved_types) {
    arguments.emplace_back(graph->add_argument(body, type));
  }
  OperandVector results;
  custom->backward->call_with(builder, arguments, results);
  for (size_t k = 0; k < saved_count; ++k) {
    if (!sums[k]) continue;
    derivative.argument_indices.push_back(
        static_cast<int>(custom->input_types.size() + result_count + k));
    derivative.is_sparse.push_back(false);
    results.push_back(sums[k].values);
  }
  for (const Operand& result : results) body.results.push_back(builder.import(result));
  int argument_count = static_cast<int>(body.arguments.size());
  made->backward = std::make_shared<ConcreteFunction>(std::move(graph), argument_count);
  derivative.backward = made->backward->graph();
  return made;
}

std::shared_ptr<ConcreteFunction> identity_function(std::shared_ptr<const CustomGradient> custom,
                                                    int copies) {
  auto graph = std::make_shared<Graph>(fmt::format("{}_{}", custom->name, copies));
  Block& body = graph->body();
  GraphBuilder builder(*graph);
  for (const ValueType& type : custom->input_types) graph->add_argument(body, type);
  for (const ValueType& type : custom->result_types) {
    Value* argument = graph->add_argument(body, type);
    body.results.push_back(builder.op("Identity", {Operand(argument)}).value());
  }
  std::vector<Value*> saved;
  for (const ValueType& type : custom->saved_types)
    saved.push_back(graph->add_argument(body, type));
  for (int copy = 0; copy < copies; ++copy) {
    body.results.insert(body.results.end(), saved.begin(), saved.end());
  }
  int argument_count = static_cast<int>(body.arguments.size());
  auto made = std::make_shared<ConcreteFunction>(std::move(graph), argument_count);
  made->set_derivative(
      [custom = std::move(custom), copies] { return derivative_of_identity(custom, copies); });
  return made;
}

std::string next_name() {
  static std::atomic<int64_t> counter{0};
  return fmt::format("__custom_gradient_{}", counter.fetch_add(1));
}

}  // namespace

OperandVector call_with_custom_gradient(
    std::span<const Operand> inputs, std::span<const Operand> results,
    FunctionRef<std::vector<Gradient>(std::span<const Gradient>)> gradient) {
  auto custom = std::make_shared<CustomGradient>();
  custom->name = next_name();
  TracingBuilder& builder = current_context().builder();
  OperandVector arguments;
  auto add_argument = [&](const Operand& operand, std::vector<ValueType>& types) {
    Value* value = builder.import(operand);
    arguments.emplace_back(value);
    types.push_back(value->type);
  };
  for (const Operand& input : inputs) add_argument(input, custom->input_types);
  for (const Operand& result : results) add_argument(result, custom->result_types);

  auto graph = std::make_shared<Graph>(custom->name + "_backward");
  {
    BuildContext context(ContextKind::kFunction, graph, VariableCreation::kForbid);
    ContextScope scope(context);
    std::vector<Gradient> upstream;
    for (const ValueType& type : custom->result_types) {
      upstream.emplace_back();
      if (is_differentiable(type)) {
        upstream.back().values = Operand(graph->add_argument(graph->body(), type, "grad"));
      }
    }
    std::vector<Gradient> gradients = gradient(upstream);
    for (size_t i = 0; i < inputs.size() && i < gradients.size(); ++i) {
      if (!gradients[i]) continue;
      custom->input_indices.push_back(static_cast<int>(i));
      Operand dense = dense_gradient(context.builder(), gradients[i]);
      graph->body().results.push_back(context.builder().import(dense));
    }
  }
  // What the gradient captured is given to it: it was saved.
  for (const Capture& capture : graph->captures()) {
    add_argument(capture.outer ? Operand(capture.outer) : Operand(capture.tensor),
                 custom->saved_types);
  }
  graph->captures().clear();
  int argument_count = static_cast<int>(graph->body().arguments.size());
  custom->backward = std::make_shared<ConcreteFunction>(std::move(graph), argument_count);
  OperandVector outputs;
  identity_function(custom, 0)->call_with(builder, arguments, outputs);
  return outputs;
}

}  // namespace graphwright
