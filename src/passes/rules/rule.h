// Algebraic rules: one line each, in a file named after the op at the root of what they match.
//
//   {"Mul", "x * 1 = x", [](Match& m) { return m.keep(m.is(1, 1) ? m.in(0) : nullptr); }},
//
// A rule holds for every value bit for bit (the sign and payload of NaN excepted), so for floats
// there is no x + 0 = x (-0 + 0 is 0) but x + -0 = x, and it holds of dtypes that it does not ask
// about. It never drops what may fail, except operands that nothing needs any more.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ir/graph.h"
#include "ir/opdef.h"

namespace graphwright::passes {

class Rewriter;

// The node a rule looks at, its first output being what is replaced. Null in, null out: rules read
// as expressions.
class Match {
 public:
  // Makes a node in front of the one matched.
  using Make = FunctionRef<Node*(const OpDef& op, std::vector<Value*> inputs, Attributes attributes,
                                 std::vector<ValueType> types)>;
  Match(Node& node, Make make) : node_(node), make_(make) {}

  Value* in(size_t index) const { return node_.inputs[index]; }
  size_t input_count() const { return node_.inputs.size(); }
  const Node& node() const { return node_; }
  DType dtype() const { return node_.outputs[0]->dtype(); }
  bool has(DTypeSet types) const { return types.contains(dtype()); }

  // Input `index` is a constant of which every element is this number (-0 is not 0; of complex
  // ones, the imaginary part is 0). Not for constants above 4096 elements.
  bool is(size_t index, double number) const;
  // The number that every element of the constant is, of a real dtype.
  bool uniform(size_t index, double* number) const;
  // The elements of a constant integer vector or scalar.
  bool integers(const Value* value, std::vector<int64_t>* elements) const;
  // The input's node if it is of this op and the input its first output, else null.
  const Node* made_by(size_t index, std::string_view op) const;

  // The value, if it has the output's dtype and certainly its shape, else null.
  Value* keep(Value* value) const;
  // A new node with the output's type. The inputs must fit the op; null if one is null.
  Value* make(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {});
  // A constant like input `index`, every element being `number`.
  Value* constant_like(size_t index, double number);
  // A constant vector with the dtype of the given value.
  Value* integer_vector(const Value* like, std::span<const int64_t> elements);

 private:
  Node& node_;
  Make make_;
};

struct Rule {
  std::string_view op;
  std::string_view text;  // "x * 1 = x"
  Value* (*apply)(Match& match);
};

void register_rules(std::span<const Rule> rules);
std::span<const Rule* const> all_rules();
// Of one op, in the order in which they are written; empty if it has none.
std::span<const Rule* const> rules_of(const OpDef& op);

// At the end of a file of rules.
#define GW_REGISTER_RULES(table) \
  static const bool kRulesRegistered = (::graphwright::passes::register_rules(table), true);

}  // namespace graphwright::passes
