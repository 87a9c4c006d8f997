#include "ops_support.h"

#include <cmath>

#include <doctest/doctest.h>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/type_inference.h"
#include "kernels/number.h"
#include "runtime/eager.h"

namespace graphwright::ops_test {
namespace {

template <class T, class Source>
Tensor filled(DType dtype, const std::vector<int64_t>& dims, const std::vector<Source>& values) {
  Tensor tensor = Tensor::empty(dtype, dims);
  REQUIRE(tensor.element_count() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) tensor.mutable_data<T>()[i] = values[i];
  return tensor;
}

// A weighted sum of all float64 outputs, with weights that differ.
double weighted(const std::vector<Tensor>& outputs) {
  double total = 0;
  double weight = 0.7;
  for (const Tensor& output : outputs) {
    if (output.dtype() != DType::kDouble) continue;
    for (double value : output.elements<double>()) {
      total += weight * value;
      weight = std::fmod(weight * 1.618 + 0.3, 2.0);
    }
  }
  return total;
}
std::vector<Tensor> weights_like(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> weights;
  double weight = 0.7;
  for (const Tensor& output : outputs) {
    if (output.dtype() != DType::kDouble) {
      weights.emplace_back();
      continue;
    }
    Tensor tensor = Tensor::empty(DType::kDouble, output.dims());
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      tensor.mutable_data<double>()[i] = weight;
      weight = std::fmod(weight * 1.618 + 0.3, 2.0);
    }
    weights.push_back(tensor);
  }
  return weights;
}

}  // namespace

Tensor doubles(std::vector<int64_t> dims, std::vector<double> values) {
  return filled<double>(DType::kDouble, dims, values);
}
Tensor floats(std::vector<int64_t> dims, std::vector<float> values) {
  return filled<float>(DType::kFloat, dims, values);
}
Tensor ints(std::vector<int64_t> dims, std::vector<int32_t> values) {
  return filled<int32_t>(DType::kInt32, dims, values);
}
Tensor bools(std::vector<int64_t> dims, std::vector<bool> values) {
  return filled<bool>(DType::kBool, dims, values);
}
Tensor strings(std::vector<int64_t> dims, std::vector<std::string> values) {
  return filled<StringElement>(DType::kString, dims, values);
}
Tensor some_doubles(std::vector<int64_t> dims, double low, double high) {
  Tensor tensor = Tensor::empty(DType::kDouble, dims);
  double position = 0.37;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.mutable_data<double>()[i] = low + (high - low) * position;
    position = std::fmod(position + 0.6180339887, 1.0);
  }
  return tensor;
}

std::vector<Tensor> run_all(std::string_view op, std::vector<Operand> inputs, Named attributes) {
  std::vector<Tensor> results;
  for (const Operand& output :
       eager_builder().op_outputs(op, inputs, attributes_of(op, std::move(attributes)))) {
    results.push_back(output.tensor());
  }
  return results;
}
Tensor run(std::string_view op, std::vector<Operand> inputs, Named attributes) {
  return run_all(op, std::move(inputs), std::move(attributes)).front();
}
Tensor call(std::string_view function, std::vector<Argument> arguments) {
  const FunctionDef* row = find_function(function);
  REQUIRE(row);
  CallContext context(eager_builder(), *row, arguments, {});
  return std::get<Operand>(row->body(context)).tensor();
}

std::vector<int64_t> dims_of(const Tensor& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}
std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  if (tensor.dtype() == DType::kBool) {
    for (bool value : tensor.elements<bool>()) values.push_back(value);
    return values;
  }
  kernels::visit_number(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, std::complex<float>> &&
                  !std::is_same_v<T, std::complex<double>>) {
      for (T value : tensor.elements<T>()) {
        values.push_back(static_cast<double>(static_cast<kernels::Accumulator<T>>(value)));
      }
    }
  });
  return values;
}
std::string error_of(std::string_view op, std::vector<Operand> inputs, Named attributes) {
  try {
    run_all(op, std::move(inputs), std::move(attributes));
  } catch (const Error& error) {
    return error.what();
  }
  FAIL_CHECK(std::string(op), " did not fail");
  return {};
}

void check_derivatives(std::string_view op_name, std::vector<Tensor> inputs, Named named) {
  INFO(std::string(op_name));
  const OpDef& op = get_op(op_name);
  Attributes attributes = attributes_of(op_name, std::move(named));
  Builder& builder = eager_builder();
  auto evaluate = [&](const std::vector<Tensor>& at) {
    OperandVector operands(at.begin(), at.end()), outputs;
    builder.apply(op, operands, attributes, outputs);
    std::vector<Tensor> tensors;
    for (const Operand& output : outputs) tensors.push_back(output.tensor());
    return tensors;
  };
  std::vector<Tensor> outputs = evaluate(inputs);
  OperandVector input_operands(inputs.begin(), inputs.end());
  OperandVector output_operands(outputs.begin(), outputs.end());

  // Reverse.
  std::vector<Tensor> weights = weights_like(outputs);
  std::vector<Gradient> output_gradients(outputs.size()), input_gradients(inputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (weights[i]) output_gradients[i].values = weights[i];
  }
  std::vector<bool> needed;
  for (const Tensor& input : inputs) needed.push_back(input.dtype() == DType::kDouble);
  GradientContext reverse(builder, op, attributes, input_operands, output_operands,
                          output_gradients, needed, input_gradients);
  REQUIRE(op.gradient);
  op.gradient.function()(reverse);

  // Forward, along one direction for all inputs together.
  OperandVector tangents(inputs.size()), output_tangents(outputs.size());
  std::vector<Tensor> directions(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!needed[i]) continue;
    directions[i] = some_doubles(dims_of(inputs[i]), -1, 1);
    tangents[i] = directions[i];
  }
  ForwardContext forward(builder, op, attributes, input_operands, output_operands, tangents,
                         output_tangents);
  REQUIRE(op.forward);
  op.forward.function()(forward);
  double forward_slope = 0;
  {
    std::vector<Tensor> tangent_tensors;
    for (size_t i = 0; i < outputs.size(); ++i) {
      tangent_tensors.push_back(output_tangents[i]
                                    ? output_tangents[i].tensor()
                                    : Tensor::zeros(outputs[i].dtype(), outputs[i].dims()));
      CHECK(dims_of(tangent_tensors.back()) == dims_of(outputs[i]));
    }
    forward_slope = weighted(tangent_tensors);
  }

  const double step = 1e-5;
  double reverse_slope = 0, difference_slope = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!needed[i]) continue;
    REQUIRE(input_gradients[i]);
    Tensor gradient = dense_gradient(builder, input_gradients[i]).tensor();
    CHECK(dims_of(gradient) == dims_of(inputs[i]));
    for (int64_t k = 0; k < inputs[i].element_count(); ++k) {
      std::vector<Tensor> moved = inputs;
      moved[i] = inputs[i].copy();
      moved[i].mutable_data<double>()[k] += step;
      double above = weighted(evaluate(moved));
      moved[i] = inputs[i].copy();
      moved[i].mutable_data<double>()[k] -= step;
      double below = weighted(evaluate(moved));
      double difference = (above - below) / (2 * step);
      INFO("input " << i << " element " << k);
      CHECK(gradient.data<double>()[k] == doctest::Approx(difference).epsilon(1e-6).scale(1));
      reverse_slope += gradient.data<double>()[k] * directions[i].data<double>()[k];
      difference_slope += difference * directions[i].data<double>()[k];
    }
  }
  CHECK(forward_slope == doctest::Approx(reverse_slope).epsilon(1e-9).scale(1));
  CHECK(forward_slope == doctest::Approx(difference_slope).epsilon(1e-5).scale(1));
}

PartialShape static_shape(std::string_view op_name, std::vector<ValueType> types, Named named) {
  auto graph = std::make_shared<Graph>("shapes");
  GraphBuilder builder(*graph);
  OperandVector inputs, outputs;
  for (ValueType& type : types) {
    inputs.emplace_back(graph->add_argument(graph->body(), std::move(type)));
  }
  builder.apply(get_op(op_name), inputs, attributes_of(op_name, std::move(named)), outputs);
  return shape_of(outputs.front()).without_symbols();
}

}  // namespace graphwright::ops_test
