// A row of the function table: one public function of the API. Its body is written over the
// builder, so that the same few lines serve eager calls, tracing and C++ programs. Composites are
// rows here, not ops.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/builder.h"
#include "ir/opdef.h"

namespace graphwright {

class CallContext;
// One operand, several (a Python list), or nothing (None).
using CallResult = std::variant<std::monostate, Operand, OperandVector>;
using FunctionBody = CallResult (*)(CallContext&);

// Parameters are `name: kind` or `name: kind = default`, kinds being
//   T, U...     a tensor; parameters of one type variable are converted to one dtype, taken from
//               those that have one already, else from the Python values
//   tensor      a tensor of any dtype
//   readable    a tensor of any dtype, or the handle of a variable, which the body reads itself
//   int32, ...  a tensor converted to this dtype
//   index       a tensor of int32 or int64 (Python ints become int32)
//   tensors     a list or tuple of tensors of one dtype, or one tensor to unstack
//   strings     a list or tuple of string tensors
//   mixed       a list or tuple of tensors of any dtypes, or one tensor
//   int, float, bool, str, dtype
//   ints        an int or a sequence of ints
//   flag        True or False only, where `bool` takes any truth value
//   axis        an int, a sequence of ints, or an integer tensor; the op refuses other tensors
//   dimension   the same, but refused with TypeError whatever the tier
//   count       an integer tensor; TypeError for others whatever the tier
//   shape       a shape known now or an integer tensor: an Operand (constant where known)
//   dims        the same, but one number stands for a vector only where ops run eagerly
//   dim_vector  the same, and one number is refused by the op
//   option      a str, an int or a float, as given
//   padding     a str, or pairs of ints as an integer tensor
//   any         whatever Python value: only for rows whose body is in src/python
// A trailing `?` allows None. Every function also takes name=None unless the signature says
// otherwise.
struct FunctionDef {
  std::string_view names;      // space separated, the first canonical: "reduce_sum math.reduce_sum"
  std::string_view signature;  // "input_tensor: T, axis: axis? = None, keepdims: bool = False"
  std::string_view doc;
  FunctionBody body = nullptr;
  std::array<TypeConstraint, 4> types{};
  std::string_view
      node_name{};  // base name of the scope or node it makes, "" = that of its last op
  // In graphs too, small Python values reach the body as eager tensors, for which it makes the
  // constants itself: named after the op's inputs, in the order of their use, or none at all.
  bool constants_by_body = false;
};

// Eager tensors of at most this many elements become constants of a graph, larger ones captures.
inline constexpr int64_t kMaxBodyConstantElements = 128;

struct NoneValue {};
using Argument = std::variant<NoneValue, bool, int64_t, double, std::string, DType, Operand,
                              OperandVector, std::vector<int64_t>, void* /* any: borrowed */>;

class CallContext {
 public:
  CallContext(Builder& builder, const FunctionDef& function, std::span<const Argument> arguments,
              std::string_view name)
      : builder_(builder), function_(function), arguments_(arguments), name_(name) {}
  Builder& builder() { return builder_; }
  const FunctionDef& function() const { return function_; }
  bool is_none(int index) const { return std::holds_alternative<NoneValue>(argument(index)); }
  const Argument& argument(int index) const { return arguments_[static_cast<size_t>(index)]; }
  const Operand& operand(int index) const { return std::get<Operand>(argument(index)); }
  const OperandVector& operands(int index) const {
    return std::get<OperandVector>(argument(index));
  }
  Expression tensor(int index) { return {builder_, operand(index)}; }
  bool boolean(int index) const { return std::get<bool>(argument(index)); }
  int64_t integer(int index) const { return std::get<int64_t>(argument(index)); }
  double real(int index) const { return std::get<double>(argument(index)); }
  const std::string& string(int index) const { return std::get<std::string>(argument(index)); }
  DType dtype(int index) const { return std::get<DType>(argument(index)); }
  const std::vector<int64_t>& integers(int index) const {
    return std::get<std::vector<int64_t>>(argument(index));
  }
  // The name= argument or the row's node name.
  std::string_view name() const { return name_; }

 private:
  Builder& builder_;
  const FunctionDef& function_;
  std::span<const Argument> arguments_;
  std::string_view name_;
};

void register_functions(std::span<const FunctionDef> table);
std::span<const FunctionDef* const> all_functions();
const FunctionDef* find_function(std::string_view name);  // by any of its names

}  // namespace graphwright
