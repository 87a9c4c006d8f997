// The stack of build contexts of a thread: which graph, if any, ops go to now, and how values from
// outside get into it.
//
//   eager        the bottom of every stack; also pushed by init_scope
//   function     the body of a function while it is traced
//   graph        a graph that the program builds by hand (tf.Graph().as_default())
//
// Branches and loop bodies are blocks of the innermost context's builder, which sees the values of
// the blocks around them without capturing. A context owns capture: a value of an enclosing context
// or an eager tensor becomes an argument of its graph, or a Const where it is small.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/operand.h"
#include "ir/resources.h"

namespace graphwright {

enum class ContextKind : uint8_t { kEager, kFunction, kGraph };

// What happens when the program makes a variable in this context.
enum class VariableCreation : uint8_t {
  kInitialize,  // eager: it gets its value at once
  kLift,        // first trace of a function: its initial value is part of the trace, and it is
                // initialised once, before the function runs
  kForbid,      // later traces: ValueError
};

// A variable made while tracing under kLift.
struct LiftedVariable {
  std::shared_ptr<VariableResource> variable;
  Operand initial_value;  // an eager tensor, or a value of the context's graph
};

class BuildContext;

// A graph builder that captures what comes from outside its graph.
class TracingBuilder final : public GraphBuilder {
 public:
  TracingBuilder(BuildContext& context, Graph& graph) : GraphBuilder(graph), context_(context) {}
  // Eager tensors of at most kMaxConstantElements elements become Const nodes, others and resource
  // handles arguments. Values of enclosing contexts become arguments. TypeError naming the tensor
  // for a value that no enclosing context owns.
  Value* import(const Operand& operand) override;

  static constexpr int64_t kMaxConstantElements = 128;

 private:
  BuildContext& context_;
};

class BuildContext {
 public:
  // An eager context.
  BuildContext() = default;
  BuildContext(ContextKind kind, std::shared_ptr<Graph> graph, VariableCreation variable_creation);
  BuildContext(const BuildContext&) = delete;
  BuildContext& operator=(const BuildContext&) = delete;

  ContextKind kind() const { return kind_; }
  bool is_eager() const { return kind_ == ContextKind::kEager; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  TracingBuilder& builder() { return *builder_; }
  BuildContext* outer() const { return outer_; }

  VariableCreation variable_creation() const { return variable_creation_; }
  std::vector<LiftedVariable>& lifted_variables() { return lifted_variables_; }
  // Every variable that was read or written while tracing, in order of first use.
  void watch_variable(const std::shared_ptr<VariableResource>& variable);
  const std::vector<std::shared_ptr<VariableResource>>& watched_variables() const {
    return watched_variables_;
  }

  // The argument that stands for an eager tensor (by the identity of the tensor, or of the resource
  // it refers to) or for a value of the outer graph; made on first use.
  Value* capture_tensor(const Tensor& tensor);
  Value* capture_value(Value* outer);

 private:
  friend class ContextScope;
  ContextKind kind_ = ContextKind::kEager;
  std::shared_ptr<Graph> graph_;
  std::unique_ptr<TracingBuilder> builder_;
  BuildContext* outer_ = nullptr;
  int depth_ = 0;  // how many scopes have it current; init_scope may enter one again
  VariableCreation variable_creation_ = VariableCreation::kInitialize;
  std::vector<LiftedVariable> lifted_variables_;
  std::vector<std::shared_ptr<VariableResource>> watched_variables_;
  std::unordered_map<const void*, Value*> captured_;
};

// The innermost context of this thread; never null (the bottom is eager).
BuildContext& current_context();

// Makes a context current while it lives. Scopes nest strictly; one that ends out of order is
// Internal.
class ContextScope {
 public:
  explicit ContextScope(BuildContext& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  BuildContext& context_;
  BuildContext* previous_;
  std::vector<class OpObserver*> hidden_observers_;
};

// The context that init_scope enters: the innermost enclosing one that is not a function being
// traced (a hand-built graph, or eager).
class InitScope {
 public:
  InitScope();
  ~InitScope();

 private:
  std::unique_ptr<BuildContext> eager_;
  std::unique_ptr<ContextScope> scope_;
};

// Unfinished traces enclosing this point own the value.
bool is_reachable(const Value& value);

}  // namespace graphwright
