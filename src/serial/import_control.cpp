// Functional control flow and calls of a GraphDef, as control nodes with blocks and calls of
// concrete functions.
#include <algorithm>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/type_inference.h"
#include "serial/graph_importer.h"
#include "trace/concrete_function.h"

namespace graphwright::serial {
namespace {

// Marks a function as being imported while it lives: one that reaches itself has no end.
class ActiveFunction {
 public:
  ActiveFunction(ImportState& state, const std::string& name) : state_(state), name_(name) {
    if (state.depth >= kMaxFunctionDepth) {
      throw_value_error("functions of the GraphDef are nested too deeply");
    }
    if (!state.active.insert(name).second) {
      throw_unimplemented(fmt::format("the function '{}' calls itself", name));
    }
    ++state.depth;
  }
  ~ActiveFunction() {
    --state_.depth;
    state_.active.erase(name_);
  }
  ActiveFunction(const ActiveFunction&) = delete;
  ActiveFunction& operator=(const ActiveFunction&) = delete;

 private:
  ImportState& state_;
  std::string name_;
};

// Looks things up in one function's text.
class FunctionReader {
 public:
  explicit FunctionReader(const FunctionDef& function) : function_(function) {
    for (const NodeDef& node : function.nodes) {
      nodes_.emplace(node.name, &node);
      for (const std::string& text : node.inputs) {
        InputName input;
        if (!parse_input(text, true, &input)) continue;
        (input.is_control ? control_uses_ : uses_)[input.node]++;
      }
    }
    for (const auto& [output, source] : function.returns) {
      InputName input;
      if (parse_input(source, true, &input)) uses_[input.node]++;
    }
  }

  // The node that makes the value; null for arguments.
  const NodeDef* maker(const std::string& source) const {
    InputName input;
    if (!parse_input(source, true, &input)) return nullptr;
    auto found = nodes_.find(input.node);
    return found == nodes_.end() ? nullptr : found->second;
  }
  // What the function's output is: "" where the definition does not say.
  std::string returned(size_t output) const {
    auto found = function_.returns.find(function_.outputs[output].name);
    return found == function_.returns.end() ? std::string() : found->second;
  }
  // The same without the Identity that results of functions end with; adds its name to `skipped`
  // where nothing else uses it.
  std::string unwrapped(const std::string& source, std::vector<std::string>& skipped) const {
    const NodeDef* node = maker(source);
    if (!node || node->op != "Identity" || node->inputs.empty() || used_often(node->name)) {
      return source;
    }
    skipped.push_back(node->name);
    return node->inputs[0];
  }
  bool used_often(const std::string& node) const {
    auto found = uses_.find(node);
    return (found != uses_.end() && found->second > 1) || control_uses_.count(node);
  }
  // NoOp nodes that only skipped nodes wait for: order in a block needs none.
  void skip_no_ops(std::vector<std::string>& skipped) const {
    for (const NodeDef& node : function_.nodes) {
      if (node.op != "NoOp") continue;
      bool needed = false;
      for (const NodeDef& user : function_.nodes) {
        bool waits =
            std::find(user.inputs.begin(), user.inputs.end(), "^" + node.name) != user.inputs.end();
        bool gone = std::find(skipped.begin(), skipped.end(), user.name) != skipped.end();
        needed |= waits && !gone;
      }
      if (!needed) skipped.push_back(node.name);
    }
  }

 private:
  const FunctionDef& function_;
  std::unordered_map<std::string, const NodeDef*> nodes_;
  std::unordered_map<std::string, int> uses_, control_uses_;
};

void check_counts(const FunctionDef& function, size_t inputs, size_t outputs,
                  const std::string& node) {
  if (function.inputs.size() != inputs || function.outputs.size() != outputs) {
    throw_at_node(node, fmt::format("the function '{}' takes {} and gives {} values, but {} and {} "
                                    "are needed",
                                    function.name, function.inputs.size(), function.outputs.size(),
                                    inputs, outputs));
  }
}

bool is_int32_constant(const NodeDef* node, int32_t value) {
  if (!node || node->op != "Const") return false;
  auto found = node->attributes.find("value");
  if (found == node->attributes.end()) return false;
  const auto* tensor = std::get_if<Tensor>(&found->second.value);
  return tensor && *tensor && tensor->dtype() == DType::kInt32 && tensor->element_count() == 1 &&
         *tensor->data<int32_t>() == value;
}

size_t list_size(const NodeDef& node, const char* name) {
  auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return 0;
  const auto* list = std::get_if<ListValue>(&found->second.value);
  return list ? list->types.size() : 0;
}

LoopForm loop_form(const NodeDef& node, const FunctionDef& condition, const FunctionDef& body,
                   const NodeDef* counter, bool unlimited) {
  FunctionReader condition_reader(condition), body_reader(body);
  size_t count = body.inputs.size();
  LoopForm form;
  form.condition =
      condition_reader.unwrapped(condition_reader.returned(0), form.skipped_in_condition);
  std::vector<std::string> returned;
  for (size_t i = 0; i < count; ++i) {
    returned.push_back(body_reader.unwrapped(body_reader.returned(i), form.skipped_in_body));
  }
  while (form.captures < count) {
    size_t last = count - 1 - form.captures;
    if (body_reader.returned(last) != body.inputs[last].name) break;
    ++form.captures;
  }
  // The counter: a constant 0, one more after each iteration, beside a limit that stays.
  bool fits = count >= 2 && form.captures <= count - 2 && is_int32_constant(counter, 0) &&
              counter->name.starts_with(node.name + "/loop_counter") &&
              returned[1] == body.inputs[1].name;
  const NodeDef* add = fits ? body_reader.maker(returned[0]) : nullptr;
  fits = add && add->op == "AddV2" && add->inputs.size() == 2 && !body_reader.used_often(add->name);
  const NodeDef* one = fits ? body_reader.maker(add->inputs[1]) : nullptr;
  fits = one && add->inputs[0] == body.inputs[0].name && is_int32_constant(one, 1) &&
         !body_reader.used_often(one->name);
  if (fits && !unlimited) {
    const NodeDef* both = condition_reader.maker(form.condition);
    fits = both && both->op == "LogicalAnd" && both->inputs.size() == 2;
    const NodeDef* below = fits ? condition_reader.maker(both->inputs[0]) : nullptr;
    fits = below && below->op == "Less" && below->inputs.size() == 2 &&
           below->inputs[0] == condition.inputs[0].name &&
           below->inputs[1] == condition.inputs[1].name;
    if (fits) {
      form.condition = both->inputs[1];
      form.skipped_in_condition.push_back(both->name);
      form.skipped_in_condition.push_back(below->name);
    }
  }
  if (fits) {
    form.counted = true;
    form.skipped_in_body.push_back(add->name);
    form.skipped_in_body.push_back(one->name);
    form.results.assign(returned.begin() + 2,
                        returned.end() - static_cast<std::ptrdiff_t>(form.captures));
  } else {
    // Everything is carried, and the values stay in their Identity nodes where they are.
    form = {};
    form.condition =
        condition_reader.unwrapped(condition_reader.returned(0), form.skipped_in_condition);
    for (size_t i = 0; i < count; ++i) {
      form.results.push_back(body_reader.unwrapped(body_reader.returned(i), form.skipped_in_body));
    }
  }
  condition_reader.skip_no_ops(form.skipped_in_condition);
  body_reader.skip_no_ops(form.skipped_in_body);
  return form;
}

std::vector<PartialShape> shapes_of(const NodeDef& node, size_t first, size_t count) {
  auto found = node.attributes.find("output_shapes");
  const ListValue* list =
      found == node.attributes.end() ? nullptr : std::get_if<ListValue>(&found->second.value);
  if (!list || list->shapes.size() < first + count) return std::vector<PartialShape>(count);
  auto begin = list->shapes.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

OperandVector NodeImporter::inline_function(const FunctionDef& function,
                                            const std::vector<Operand>& arguments) {
  ActiveFunction active(state_, function.name);
  FunctionReader reader(function);
  std::vector<std::string> skipped, sources;
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    sources.push_back(reader.unwrapped(reader.returned(i), skipped));
  }
  reader.skip_no_ops(skipped);
  NodeImporter inner(state_, builder_, prefix_, /*in_function=*/true);
  for (size_t i = 0; i < arguments.size(); ++i) {
    inner.set_argument(function.inputs[i].name, arguments[i]);
  }
  for (const std::string& name : skipped) inner.skip(name);
  inner.import(function.nodes);
  OperandVector results;
  for (const std::string& source : sources) results.push_back(inner.value(source, function.name));
  return results;
}

void NodeImporter::import_if(const NodeDef& node, const std::vector<Operand>& inputs) {
  if (inputs.empty()) throw_at_node(node.name, "it has no condition");
  const FunctionDef& yes = state_.function(function_attribute(node, "then_branch"), node.name);
  const FunctionDef& no = state_.function(function_attribute(node, "else_branch"), node.name);
  size_t outputs = list_size(node, "Tout");
  check_counts(yes, inputs.size() - 1, outputs, node.name);
  check_counts(no, inputs.size() - 1, outputs, node.name);
  std::vector<Operand> arguments(inputs.begin() + 1, inputs.end());
  auto then_branch = [&](std::span<const Operand>) { return inline_function(yes, arguments); };
  auto else_branch = [&](std::span<const Operand>) { return inline_function(no, arguments); };
  nodes_[node.name].outputs = builder_.if_else(inputs[0], then_branch, else_branch, node.name);
}

void NodeImporter::import_case(const NodeDef& node, const std::vector<Operand>& inputs) {
  if (inputs.empty()) throw_at_node(node.name, "it has no branch index");
  const auto* list = std::get_if<ListValue>(&attribute(node, "branches").value);
  if (!list || list->functions.empty()) throw_at_node(node.name, "it has no branches");
  std::vector<Operand> arguments(inputs.begin() + 1, inputs.end());
  std::vector<std::function<OperandVector(std::span<const Operand>)>> bodies;
  for (const NameAttrList& branch : list->functions) {
    const FunctionDef& function = state_.function(branch.name, node.name);
    check_counts(function, arguments.size(), list_size(node, "Tout"), node.name);
    bodies.emplace_back([this, &function, &arguments](std::span<const Operand>) {
      return inline_function(function, arguments);
    });
  }
  std::vector<BlockFunction> branches(bodies.begin(), bodies.end());
  nodes_[node.name].outputs = builder_.switch_case(inputs[0], branches, node.name);
}

LoopForm NodeImporter::form_of_loop(const NodeDef& node) const {
  const FunctionDef& condition = state_.function(function_attribute(node, "cond"), node.name);
  const FunctionDef& body = state_.function(function_attribute(node, "body"), node.name);
  size_t inputs = 0;
  for (const std::string& input : node.inputs) inputs += !input.starts_with('^');
  check_counts(condition, inputs, 1, node.name);
  check_counts(body, inputs, inputs, node.name);
  auto counter = definitions_.end();
  bool unlimited = false;
  if (node.inputs.size() >= 2) {
    InputName first, second;
    if (parse_input(node.inputs[0], in_function_, &first)) counter = definitions_.find(first.node);
    if (parse_input(node.inputs[1], in_function_, &second)) {
      auto limit = definitions_.find(second.node);
      unlimited = limit != definitions_.end() && is_int32_constant(limit->second, -1);
    }
  }
  const NodeDef* counter_node = counter == definitions_.end() ? nullptr : counter->second;
  return loop_form(node, condition, body, counter_node, unlimited);
}

void NodeImporter::find_counters(const std::vector<NodeDef>& nodes) {
  std::unordered_map<std::string, int> uses;
  for (const NodeDef& node : nodes) {
    for (const std::string& input : node.inputs) ++uses[input];
  }
  for (const NodeDef& node : nodes) {
    if (node.op != "While" && node.op != "StatelessWhile") continue;
    if (!form_of_loop(node).counted) continue;
    InputName counter;
    parse_input(node.inputs[0], in_function_, &counter);
    if (uses[node.inputs[0]] == 1) counters_.insert(counter.node);
  }
}

void NodeImporter::import_while(const NodeDef& node, const std::vector<Operand>& inputs) {
  const FunctionDef& condition = state_.function(function_attribute(node, "cond"), node.name);
  const FunctionDef& body = state_.function(function_attribute(node, "body"), node.name);
  LoopForm form = form_of_loop(node);
  size_t first = form.counted ? 2 : 0;
  size_t carried_count = inputs.size() - first - form.captures;
  std::vector<Operand> carried(inputs.begin() + static_cast<std::ptrdiff_t>(first),
                               inputs.begin() + static_cast<std::ptrdiff_t>(first + carried_count));
  auto run = [&](const FunctionDef& function, const std::vector<std::string>& skipped,
                 const std::vector<std::string>& results, std::span<const Operand> arguments) {
    ActiveFunction active(state_, function.name);
    NodeImporter inner(state_, builder_, prefix_, /*in_function=*/true);
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      Operand value = inputs[i];  // the limit, and what is seen from outside
      if (form.counted && i == 0) value = arguments[0];
      if (i >= first && i < first + carried_count) value = arguments[i - first + 1];
      inner.set_argument(function.inputs[i].name, value);
    }
    for (const std::string& name : skipped) inner.skip(name);
    inner.import(function.nodes);
    OperandVector values;
    for (const std::string& source : results) values.push_back(inner.value(source, function.name));
    return values;
  };
  auto run_condition = [&](std::span<const Operand> arguments) {
    return run(condition, form.skipped_in_condition, {form.condition}, arguments);
  };
  auto run_body = [&](std::span<const Operand> arguments) {
    return run(body, form.skipped_in_body, form.results, arguments);
  };
  WhileOptions options;
  if (form.counted) options.maximum_iterations = inputs[1];
  options.shape_invariants = shapes_of(node, first, carried_count);
  options.name = node.name;
  auto parallel = node.attributes.find("parallel_iterations");
  if (parallel != node.attributes.end()) {
    if (const auto* count = std::get_if<int64_t>(&parallel->second.value)) {
      options.parallel_iterations = *count;
    }
  }
  // Loops of a graph built by hand have an Identity behind each output.
  bool has_identities = definitions_.count(node.name + "/Identity") > 0;
  options.output_identities = has_identities;
  OperandVector made;
  try {
    made = builder_.while_loop(options, carried, run_condition, run_body);
  } catch (const Error& error) {
    // Where handles are arguments, less is known of shapes than when the loop was made.
    bool shapes_differ = error.detail().message.find("after one iteration") != std::string::npos;
    if (error.detail().kind != ErrorKind::kValueError || !shapes_differ) throw;
    options.shape_invariants.assign(carried_count, PartialShape());
    made = builder_.while_loop(options, carried, run_condition, run_body);
  }
  // The constant behind the counter belongs to the loop, which makes its own.
  std::vector<Operand>& outputs = nodes_[node.name].outputs;
  if (form.counted) {
    outputs.push_back(made[0]);
    outputs.push_back(inputs[1]);
  }
  outputs.insert(outputs.end(), made.begin() + 1, made.end());
  for (size_t i = inputs.size() - form.captures; i < inputs.size(); ++i) {
    outputs.push_back(inputs[i]);
  }
}

// The Identity behind an output of a control node, which the node's own export has again.
bool NodeImporter::claim_identity(const NodeDef& node) {
  if (node.op != "Identity" || node.inputs.empty()) return false;
  InputName input;
  if (!parse_input(node.inputs[0], in_function_, &input) || input.is_control) return false;
  if (!node.name.starts_with(input.node + "/Identity")) return false;
  auto source = nodes_.find(input.node);
  if (source == nodes_.end() || !source->second.node || source->second.node->blocks.empty()) {
    return false;
  }
  if (node.inputs.size() > 1) return false;
  nodes_[node.name].outputs = {value(node.inputs[0], node.name)};
  nodes_[node.name].node = source->second.node;
  return true;
}

std::shared_ptr<Callee> NodeImporter::callee(const std::string& name, const NodeDef& node) {
  auto known = state_.callees.find(name);
  if (known != state_.callees.end()) return known->second;
  const FunctionDef& function = state_.function(name, node.name);
  ActiveFunction active(state_, name);
  auto graph = std::make_shared<Graph>(name);
  GraphBuilder builder(*graph);
  std::vector<std::string> skipped;
  FunctionReader reader(function);
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    reader.unwrapped(reader.returned(i), skipped);
  }
  reader.skip_no_ops(skipped);
  NodeImporter inner(state_, builder, "", /*in_function=*/true);
  // Identity nodes of results stay: they end the function there, too.
  for (const NodeDef& inner_node : function.nodes) {
    bool gone = std::find(skipped.begin(), skipped.end(), inner_node.name) != skipped.end();
    if (gone && inner_node.op == "NoOp") inner.skip(inner_node.name);
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    ValueType type;
    type.dtype = function.inputs[i].type;
    auto attributes = function.argument_attributes.find(static_cast<uint32_t>(i));
    if (attributes != function.argument_attributes.end()) {
      auto shapes = attributes->second.find("_output_shapes");
      if (shapes != attributes->second.end()) {
        const auto* list = std::get_if<ListValue>(&shapes->second.value);
        if (list && list->shapes.size() == 1) type.shape = list->shapes[0];
      }
    }
    name_unknown_dims(type.shape);
    Value* argument = graph->add_argument(graph->body(), type, function.inputs[i].name);
    inner.set_argument(function.inputs[i].name, argument);
  }
  inner.import(function.nodes);
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    Operand result = inner.value(reader.returned(i), name);
    graph->body().results.push_back(builder.import(result));
  }
  auto made = std::make_shared<ConcreteFunction>(graph, static_cast<int>(function.inputs.size()));
  state_.callees.emplace(name, made);
  return made;
}

void NodeImporter::import_call(const NodeDef& node, const std::vector<Operand>& inputs) {
  std::shared_ptr<Callee> function = callee(function_attribute(node, "f"), node);
  const Block& body = function->callee_graph().body();
  if (body.arguments.size() != inputs.size()) {
    throw_at_node(node.name,
                  fmt::format("the function '{}' takes {} values, not {}", function->callee_name(),
                              body.arguments.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (body.arguments[i]->dtype() != dtype_of(inputs[i])) {
      throw_at_node(
          node.name,
          fmt::format("input {} of function '{}' is {}, not {}", i, function->callee_name(),
                      dtype_name(body.arguments[i]->dtype()), dtype_name(dtype_of(inputs[i]))));
    }
  }
  OperandVector outputs;
  builder_.call(get_op(node.op), function, inputs, outputs, node.name);
  nodes_[node.name].outputs = std::move(outputs);
}

}  // namespace graphwright::serial
