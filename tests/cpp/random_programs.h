// For tests: random programs that terminate and do not fail. Nested loops and branches, calls,
// lists, a variable, unknown shapes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "graph_interpreter.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/resources.h"

namespace graphwright::testing {

inline constexpr DType kFloat = DType::kFloat;
inline constexpr DType kInt32 = DType::kInt32;

// What the generator knows of a value: its kind decides which ops may take it.
enum class Kind { kScalar, kInteger, kCondition, kVector, kLarge, kUnknown, kList, kCount };
inline constexpr int kTensorKinds = static_cast<int>(Kind::kList);
inline constexpr int kListSize = 4;

inline ValueType type_of_kind(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
      return tensor_type(kInt32, PartialShape::scalar());
    case Kind::kCondition:
      return tensor_type(DType::kBool, PartialShape::scalar());
    case Kind::kVector:
      return tensor_type(kFloat, PartialShape{3});
    case Kind::kLarge:
      return tensor_type(kFloat, PartialShape{7, 3});
    case Kind::kUnknown:
      return tensor_type(kFloat, PartialShape{kUnknownDim});
    case Kind::kList:
      return list_type(kFloat, PartialShape{3});
    default:
      return tensor_type(kFloat, PartialShape::scalar());
  }
}

inline Tensor sample(Kind kind, std::mt19937& random) {
  auto number = [&] { return static_cast<float>(random() % 2001) / 1000.0f - 1.0f; };
  if (kind == Kind::kInteger) return Tensor::int32_scalar(static_cast<int32_t>(random() % 5));
  if (kind == Kind::kCondition) return Tensor::bool_scalar(random() % 2 != 0);
  std::vector<int64_t> dims;
  if (kind == Kind::kVector) dims = {3};
  // Both fit with each other and with the vectors.
  if (kind == Kind::kUnknown) dims = {random() % 3 == 0 ? 1 : 3};
  if (kind == Kind::kLarge) dims = {7, 3};
  Tensor tensor = Tensor::empty(kFloat, dims);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = number();
  return tensor;
}

class Generator {
 public:
  Generator(uint32_t seed, Builder& builder) : random_(seed), builder_(builder) {}

  struct Item {
    Operand operand;
    Kind kind;
  };
  using Scope = std::vector<Item>;

  std::mt19937& random() { return random_; }
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  void set_variable(Operand handle) { variable_ = std::move(handle); }
  void set_callee(std::shared_ptr<Callee> callee, std::vector<Kind> results) {
    callee_ = std::move(callee);
    callee_results_ = std::move(results);
  }

  Operand new_list() {
    static const Attributes kElement =
        named_attributes(get_op("TensorListReserve"), {{"element_dtype", kFloat}});
    std::array<int64_t, 1> shape{3};
    return builder_.op(
        "TensorListReserve",
        {builder_.int32_vector(shape), builder_.constant(Tensor::int32_scalar(kListSize))},
        kElement);
  }

  // Adds `count` random nodes whose inputs come from the scope.
  void extend(Scope& scope, int count, int depth) {
    for (int i = 0; i < count; ++i) {
      switch (pick(depth > 0 ? 23 : 19)) {
        case 0:
        case 1:
        case 2:
        case 3:
          add_arithmetic(scope);
          break;
        case 4: {
          Item item = any_float(scope);
          scope.push_back({builder_.op("Tanh", {item.operand}), item.kind});
          break;
        }
        case 5: {
          Operand left = any(scope, Kind::kInteger), right = any(scope, Kind::kInteger);
          scope.push_back({builder_.op("Less", {left, right}), Kind::kCondition});
          break;
        }
        case 6: {
          Operand left = any(scope, Kind::kScalar), right = any(scope, Kind::kScalar);
          scope.push_back({builder_.op("Less", {left, right}), Kind::kCondition});
          break;
        }
        case 7: {
          auto kind = static_cast<Kind>(pick(kTensorKinds));
          if (kind == Kind::kUnknown) kind = Kind::kVector;
          scope.push_back({builder_.constant(sample(kind, random_)), kind});
          break;
        }
        case 8:
          if (variable_) add_read_or_write(scope);
          break;
        case 9: {
          Item item = any_float(scope);
          scope.push_back({builder_.op("Identity", {item.operand}), item.kind});
          break;
        }
        case 10:
        case 11:
          add_list_op(scope);
          break;
        case 12:
          if (pick(3) == 0) {
            add_shape_op(scope);
          } else {
            add_call(scope);
          }
          break;
        case 13:
        case 14:
          add_unary(scope);
          break;
        case 15:
          scope.push_back({builder_.constant(simple_number()), Kind::kScalar});
          break;
        case 16:
          add_logic(scope);
          break;
        case 17:
          add_selection(scope);
          break;
        case 18:
          repeat(scope);
          break;
        case 19:
        case 20:
          add_branch(scope, depth);
          break;
        default:
          add_loop(scope, depth);
      }
    }
  }

  Item any_item(const Scope& scope) { return scope[pick(static_cast<uint32_t>(scope.size()))]; }

 private:
  // What algebraic rules look for.
  Tensor simple_number() {
    static constexpr float kNumbers[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 0.5f, -0.25f};
    return Tensor::scalar(kFloat, kNumbers[pick(7)]);
  }

  void add_unary(Scope& scope) {
    static constexpr const char* kOps[] = {"Neg",  "Abs",      "Square",      "Floor",
                                           "Sign", "Identity", "StopGradient"};
    Item item = any_float(scope);
    const char* op = kOps[pick(7)];
    Operand once = builder_.op(op, {item.operand});
    scope.push_back({once, item.kind});
    if (pick(2)) scope.push_back({builder_.op(kOps[pick(3)], {once}), item.kind});
  }

  void add_logic(Scope& scope) {
    Operand left = any(scope, Kind::kCondition);
    if (pick(2)) {
      scope.push_back({builder_.op("LogicalNot", {left}), Kind::kCondition});
      return;
    }
    Operand right =
        pick(2) ? any(scope, Kind::kCondition) : builder_.constant(Tensor::bool_scalar(pick(2)));
    const char* op = pick(2) ? "LogicalAnd" : "LogicalOr";
    scope.push_back({builder_.op(op, {left, right}), Kind::kCondition});
  }

  void add_selection(Scope& scope) {
    Item first = any_float(scope);
    Operand second = pick(4) ? any(scope, first.kind) : first.operand;
    Operand condition =
        pick(3) ? any(scope, Kind::kCondition) : builder_.constant(Tensor::bool_scalar(pick(2)));
    Operand result = builder_.op("SelectV2", {condition, first.operand, second});
    Kind kind = first.kind == Kind::kUnknown && shape_of(result).is_fully_defined() ? Kind::kVector
                                                                                    : first.kind;
    scope.push_back({result, kind});
  }

  // The same node once more, for an equal value.
  void repeat(Scope& scope) {
    Item item = any_float(scope);
    const Node* node = item.operand.value()->node;
    if (!node || !node->op->has(kPure) || node->outputs.size() != 1) return;
    OperandVector inputs(node->inputs.begin(), node->inputs.end());
    scope.push_back({builder_.op(node->op->name, inputs, node->attributes), item.kind});
  }

  Operand any(const Scope& scope, Kind kind) {
    std::vector<const Item*> found;
    for (const Item& item : scope) {
      if (item.kind == kind) found.push_back(&item);
    }
    // Recent values more often, so that chains arise.
    auto size = static_cast<uint32_t>(found.size());
    uint32_t index = pick(2) ? size - 1 - pick(std::min(size, 3u)) : pick(size);
    return found[index]->operand;
  }
  Item any_float(const Scope& scope) {
    static constexpr Kind kKinds[] = {Kind::kScalar, Kind::kVector, Kind::kLarge, Kind::kUnknown};
    Kind kind = kKinds[pick(4)];
    return {any(scope, kind), kind};
  }

  void add_arithmetic(Scope& scope) {
    static constexpr const char* kOps[] = {"AddV2", "Mul", "Sub"};
    const char* op = kOps[pick(3)];
    if (pick(4) == 0) {
      Operand left = any(scope, Kind::kInteger), right = any(scope, Kind::kInteger);
      scope.push_back({builder_.op(op, {left, right}), Kind::kInteger});
      return;
    }
    Item left = any_float(scope);
    Kind other = pick(2) ? left.kind : pick(2) ? Kind::kScalar : Kind::kVector;
    if (left.kind == Kind::kScalar && other == Kind::kVector) left.kind = Kind::kVector;
    Operand right = any(scope, other);
    bool swap = pick(2) != 0;
    Operand result =
        swap ? builder_.op(op, {right, left.operand}) : builder_.op(op, {left.operand, right});
    // [?] with [3] has a known shape, which is as good.
    Kind kind = left.kind == Kind::kUnknown && shape_of(result).is_fully_defined() ? Kind::kVector
                                                                                   : left.kind;
    scope.push_back({result, kind});
  }

  void add_read_or_write(Scope& scope) {
    if (pick(2)) {
      OperandVector none;
      std::vector<Operand> inputs{variable_, any(scope, Kind::kLarge)};
      builder_.apply(get_op("AssignVariableOp"), inputs, {}, none);
    } else {
      static const Attributes kDtype =
          named_attributes(get_op("ReadVariableOp"), {{"dtype", kFloat}});
      scope.push_back({builder_.op("ReadVariableOp", {variable_}, kDtype), Kind::kLarge});
    }
  }

  void add_list_op(Scope& scope) {
    Operand index = builder_.constant(Tensor::int32_scalar(static_cast<int32_t>(pick(kListSize))));
    switch (pick(4)) {
      case 0:
        scope.push_back({new_list(), Kind::kList});
        break;
      case 1: {
        static const Attributes kElement =
            named_attributes(get_op("TensorListGetItem"), {{"element_dtype", kFloat}});
        std::array<int64_t, 1> shape{3};
        Operand item =
            builder_.op("TensorListGetItem",
                        {any(scope, Kind::kList), index, builder_.int32_vector(shape)}, kElement);
        scope.push_back({item, Kind::kVector});
        break;
      }
      default:
        scope.push_back({builder_.op("TensorListSetItem",
                                     {any(scope, Kind::kList), index, any(scope, Kind::kVector)}),
                         Kind::kList});
    }
  }

  // What depends on shapes that are not known.
  void add_shape_op(Scope& scope) {
    Operand unknown = any(scope, Kind::kUnknown);
    Operand shape = builder_.op("Shape", {unknown});
    if (pick(2)) {
      scope.push_back({builder_.op("Size", {unknown}), Kind::kInteger});
      return;
    }
    Operand same = builder_.op("Reshape", {builder_.op("Neg", {unknown}), shape});
    scope.push_back({same, shape_of(same).is_fully_defined() ? Kind::kVector : Kind::kUnknown});
  }

  void add_call(Scope& scope) {
    if (!callee_) return;
    std::vector<Operand> inputs;
    for (int i = 0; i < kTensorKinds; ++i) inputs.push_back(any(scope, static_cast<Kind>(i)));
    OperandVector outputs;
    dynamic_cast<GraphBuilder&>(builder_).call(get_op("PartitionedCall"), callee_, inputs, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      scope.push_back({outputs[i], callee_results_[i]});
    }
  }

  void add_branch(Scope& scope, int depth) {
    std::vector<Kind> kinds;
    for (uint32_t i = 0, count = pick(4); i < count; ++i) {
      kinds.push_back(static_cast<Kind>(pick(static_cast<uint32_t>(Kind::kCount))));
    }
    auto branch = [&](std::span<const Operand>) {
      Scope inner = scope;
      extend(inner, static_cast<int>(pick(5)), depth - 1);
      OperandVector results;
      for (Kind kind : kinds) results.push_back(any(inner, kind));
      return results;
    };
    OperandVector outputs = builder_.if_else(any(scope, Kind::kCondition), branch, branch);
    for (size_t i = 0; i < kinds.size(); ++i) {
      // Both branches may have given the known shape.
      Kind kind = kinds[i] == Kind::kUnknown && shape_of(outputs[i]).is_fully_defined()
                      ? Kind::kVector
                      : kinds[i];
      scope.push_back({outputs[i], kind});
    }
  }

  void add_loop(Scope& scope, int depth) {
    std::vector<Kind> kinds;
    std::vector<Operand> carried;
    WhileOptions options;
    for (uint32_t i = 0, count = 1 + pick(5); i < count; ++i) {
      kinds.push_back(static_cast<Kind>(pick(static_cast<uint32_t>(Kind::kCount))));
      carried.push_back(any(scope, kinds.back()));
      options.shape_invariants.push_back(type_of_kind(kinds.back()).shape);
    }
    if (pick(3) == 0) options.maximum_iterations = any(scope, Kind::kInteger);
    Operand limit = builder_.constant(Tensor::int32_scalar(static_cast<int32_t>(pick(4))));
    bool more_in_test = pick(2) != 0;
    auto enter = [&](std::span<const Operand> arguments) {
      Scope inner = scope;
      inner.push_back({arguments[0], Kind::kInteger});
      for (size_t i = 0; i < kinds.size(); ++i) inner.push_back({arguments[i + 1], kinds[i]});
      return inner;
    };
    OperandVector outputs = builder_.while_loop(
        options, carried,
        [&](std::span<const Operand> arguments) {
          if (more_in_test) {
            Scope inner = enter(arguments);
            extend(inner, static_cast<int>(pick(3)), 0);
          }
          return OperandVector{builder_.op("Less", {arguments[0], limit})};
        },
        [&](std::span<const Operand> arguments) {
          Scope inner = enter(arguments);
          extend(inner, static_cast<int>(pick(7)), depth - 1);
          OperandVector results;
          for (Kind kind : kinds) results.push_back(any(inner, kind));
          return results;
        });
    scope.push_back({outputs[0], Kind::kInteger});
    for (size_t i = 0; i < kinds.size(); ++i) {
      Kind kind = kinds[i] == Kind::kUnknown && shape_of(outputs[i + 1]).is_fully_defined()
                      ? Kind::kVector
                      : kinds[i];
      scope.push_back({outputs[i + 1], kind});
    }
  }

  std::mt19937 random_;
  Builder& builder_;
  Operand variable_;
  std::shared_ptr<Callee> callee_;
  std::vector<Kind> callee_results_;
};

// A function of one tensor of each kind; sometimes too large to be inlined.
inline std::shared_ptr<Callee> make_callee(uint32_t seed, std::vector<Kind>& results) {
  auto callee = std::make_shared<GraphCallee>(std::make_shared<Graph>("callee"));
  Graph& graph = *callee->graph;
  GraphBuilder builder(graph);
  Generator generator(seed, builder);
  Generator::Scope scope;
  for (int i = 0; i < kTensorKinds; ++i) {
    auto kind = static_cast<Kind>(i);
    scope.push_back({graph.add_argument(graph.body(), type_of_kind(kind)), kind});
  }
  scope.push_back({generator.new_list(), Kind::kList});
  generator.extend(scope, 6, 2);
  if (generator.pick(2)) {
    for (int i = 0; i < 200; ++i) builder.op("Tanh", {scope[0].operand});
  }
  for (int i = 0; i < 3; ++i) {
    Generator::Item item = generator.any_item(scope);
    results.push_back(item.kind);
    graph.body().results.push_back(builder.import(item.operand));
  }
  graph.freeze();
  return callee;
}

// Equal dtypes, shapes and bits; NaN may have another sign and payload.
inline bool same(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || !(left.shape() == right.shape())) return false;
  if (left.dtype() != kFloat) {
    return std::memcmp(left.raw_data(), right.raw_data(), left.byte_size()) == 0;
  }
  return std::ranges::equal(left.elements<float>(), right.elements<float>(), [](float a, float b) {
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
  });
}

// A finished graph with what to run it on.
struct RandomProgram {
  explicit RandomProgram(uint32_t seed) : graph(std::make_shared<Graph>("random")) {
    GraphBuilder builder(*graph);
    Generator generator(seed, builder);
    Generator::Scope scope;
    for (int i = 0; i < kTensorKinds * 2; ++i) {
      auto kind = static_cast<Kind>(i / 2);
      scope.push_back({graph->add_argument(graph->body(), type_of_kind(kind)), kind});
      inputs.push_back(sample(kind, generator.random()));
      other_inputs.push_back(sample(kind, generator.random()));
    }
    variable = std::make_shared<VariableResource>("v", kFloat, PartialShape{7, 3});
    generator.set_variable(
        graph->add_argument(graph->body(), variable_type(kFloat, PartialShape{7, 3})));
    inputs.push_back(Tensor::object(DType::kResource, variable));
    other_inputs.push_back(inputs.back());
    scope.push_back({generator.new_list(), Kind::kList});
    std::vector<Kind> callee_results;
    std::shared_ptr<Callee> callee = make_callee(seed, callee_results);
    generator.set_callee(callee, callee_results);
    start = sample(Kind::kLarge, generator.random());

    generator.extend(scope, 3 + static_cast<int>(generator.pick(12)), 3);
    for (uint32_t i = 0, count = 1 + generator.pick(5); i < count;) {
      Generator::Item item = generator.any_item(scope);
      if (item.kind == Kind::kList) continue;
      ++i;
      graph->body().results.push_back(builder.import(item.operand));
    }
    graph->freeze();
  }

  // Before every run: gives the variable its first value.
  void reset() const { variable->assign(start).throw_if_error(); }

  std::shared_ptr<Graph> graph;
  std::vector<Tensor> inputs;
  std::vector<Tensor> other_inputs;  // other numbers; what is unknown may have another size
  std::shared_ptr<VariableResource> variable;
  Tensor start;
};

}  // namespace graphwright::testing
