// The interface that makes nodes. The eager builder runs each op at once, the graph builder records
// it; others check types or export. Gradient rules and function bodies are written over it once,
// and never know which tier they serve.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "ir/attribute.h"
#include "ir/operand.h"
#include "ir/value_type.h"

namespace graphwright {

struct OpDef;
class Graph;
struct Block;

using OperandVector = std::vector<Operand>;
// The nodes of a block: takes the block's arguments, returns its results, and applies ops
// meanwhile.
using BlockFunction = FunctionRef<OperandVector(std::span<const Operand> arguments)>;

struct WhileOptions {
  Operand maximum_iterations;                  // null: none; else an integer scalar
  std::vector<PartialShape> shape_invariants;  // empty: the shapes of the initial values
  std::vector<std::string> variable_names;     // of the carried values, for messages; may be empty
  int64_t parallel_iterations = 10;
  // Whether the exported form has an Identity behind each output; by default those of graphs built
  // by hand do.
  std::optional<bool> output_identities;
  std::string_view name = "while";
};

// As the name of a node: the name of the scope it is made in.
inline constexpr std::string_view kScopeName = "/";

class Builder {
 public:
  virtual ~Builder() = default;
  // Inputs must already have the dtypes that the signature asks for; InvalidArgument (eager) or
  // TypeError / ValueError (graph) otherwise. `name` is the node's base name, "" for the op's own.
  // kScopeName names the node as its scope: how `x * 2` is the node "mul" beside "mul/y".
  // Outputs are appended to `outputs`.
  virtual void apply(const OpDef& op, std::span<const Operand> inputs, const Attributes& attributes,
                     OperandVector& outputs, std::string_view name = {}) = 0;
  // A while loop or a branch: the functions are called with arguments of this builder's tier, and
  // the results returned are the carried values after the loop (trip count first), or the outputs.
  // The condition gets the same arguments as the body: [counter, carried...].
  virtual OperandVector while_loop(const WhileOptions& options, std::span<const Operand> carried,
                                   BlockFunction condition, BlockFunction body) = 0;
  virtual OperandVector if_else(const Operand& condition, BlockFunction then_branch,
                                BlockFunction else_branch, std::string_view name = {}) = 0;
  // The branch that an int32 scalar selects; the last one where it is outside [0, branches).
  virtual OperandVector switch_case(const Operand& index, std::span<const BlockFunction> branches,
                                    std::string_view name = {}) = 0;
  virtual bool is_eager() const = 0;
  // Name scopes: nodes made in between are named "scope/...". Eager builders have none.
  virtual void enter_scope(std::string_view /*name*/) {}
  virtual void leave_scope() {}

  // Conveniences over apply: op by name (Unimplemented if there is none); the first output.
  Operand op(std::string_view op_name, std::initializer_list<Operand> inputs,
             const Attributes& attributes = {}, std::string_view name = {});
  Operand op(std::string_view op_name, std::span<const Operand> inputs,
             const Attributes& attributes = {}, std::string_view name = {});
  OperandVector op_outputs(std::string_view op_name, std::span<const Operand> inputs,
                           const Attributes& attributes = {}, std::string_view name = {});
  // A constant: eager tensors are operands as they are; the graph builder makes a Const node.
  virtual Operand constant(const Tensor& tensor, std::string_view name = {}) = 0;
  // Rounded or truncated to dtype; InvalidArgument where an integer dtype does not hold it.
  Operand scalar(double value, DType dtype);
  Operand int32_vector(std::span<const int64_t> values);
};

// Opens a scope while it lives.
class NameScopeGuard {
 public:
  NameScopeGuard(Builder& builder, std::string_view name) : builder_(builder) {
    builder.enter_scope(name);
  }
  ~NameScopeGuard() { builder_.leave_scope(); }
  NameScopeGuard(const NameScopeGuard&) = delete;
  NameScopeGuard& operator=(const NameScopeGuard&) = delete;

 private:
  Builder& builder_;
};

// What is known of an operand, whatever its tier.
DType dtype_of(const Operand& operand);
PartialShape shape_of(const Operand& operand);
// An eager handle's type says what it refers to: "variable<float32[2]>".
ValueType type_of(const Operand& operand);
ValueType type_of_tensor(const Tensor& tensor);
// The value where it is known without running anything: an eager tensor, a Const node, or ops of
// constants that fold cheaply. Null tensor if unknown.
Tensor constant_value(const Operand& operand);
// An integer vector (a shape, a begin...) or scalar (one element) of which some elements may be
// known; nullopt when not even its length is. Where `known` is false, the value is kUnknownDim or
// the symbol of the dimension that the element equals.
struct PartialVector {
  std::vector<int64_t> values;
  std::vector<bool> known;
};
std::optional<PartialVector> partial_constant_vector(const Operand& operand);
// The same read as a shape: unknown elements are unknown dims. Unknown rank if nothing is known.
PartialShape constant_as_shape(const Operand& operand);

// An operand with its builder: gradient rules read as algebra, `dy * (1.0 - y * y)`.
class Expression {
 public:
  Expression() = default;
  Expression(Builder& builder, Operand operand)
      : builder_(&builder), operand_(std::move(operand)) {}
  explicit operator bool() const { return static_cast<bool>(operand_); }
  operator Operand() const { return operand_; }  // NOLINT(google-explicit-constructor)
  const Operand& operand() const { return operand_; }
  Builder& builder() const { return *builder_; }
  DType dtype() const { return dtype_of(operand_); }
  Expression apply(std::string_view op_name) const;
  Expression apply(std::string_view op_name, const Operand& other) const;

 private:
  Builder* builder_ = nullptr;
  Operand operand_;
};
Expression operator+(const Expression& left, const Expression& right);
Expression operator-(const Expression& left, const Expression& right);
Expression operator*(const Expression& left, const Expression& right);
Expression operator/(const Expression& left, const Expression& right);
Expression operator+(const Expression& left, double right);
Expression operator-(const Expression& left, double right);
Expression operator*(const Expression& left, double right);
Expression operator/(const Expression& left, double right);
Expression operator+(double left, const Expression& right);
Expression operator-(double left, const Expression& right);
Expression operator*(double left, const Expression& right);
Expression operator/(double left, const Expression& right);
Expression operator-(const Expression& operand);

}  // namespace graphwright
