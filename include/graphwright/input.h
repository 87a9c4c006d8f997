// What functions take where TensorFlow's take a tensor "or something convertible to one".
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <graphwright/handle.h>
#include <graphwright/tensor.h>

namespace graphwright::api {
inline namespace v1 {

class Variable;

namespace detail {
// A vector of int64; of a shape, InvalidArgument unless all of it is known.
GW_API Handle* make_integers(const int64_t* numbers, size_t count);
GW_API Handle* make_shape(const int64_t* dims, int rank);
[[noreturn]] GW_API void fail_integer_range(uint64_t number);
// As a tensor: numbers take `preferred`, or their default without it.
GW_API Handle* to_tensor(const Argument& input, DType preferred);
GW_API Handle* element(Handle* tensor, const Argument& index);  // tensor[index]

template <class T>
int64_t checked_integer(T number) {
  if constexpr (!std::is_signed_v<T> && sizeof(T) == sizeof(int64_t)) {
    if (number > static_cast<T>(INT64_MAX)) fail_integer_range(number);
  }
  return static_cast<int64_t>(number);
}
}  // namespace detail

// An operand: a tensor, a variable (which is read), a C++ number, text, or a list of integers in
// braces; or nothing, where an argument may be left out.
//
// A number has no dtype of its own. It takes that of the other operands, so that `x * 0.5` keeps
// the dtype of x; without any it is int32 (or float32, with a decimal point). A number that the
// dtype cannot hold, 0.5 beside integers say, is InvalidArgument. gw::constant makes tensors with
// the dtype of their C++ type.
//
// It remembers the line that passed it, for errors and for the nodes of graphs.
class Input {
 public:
  Input() = default;
  Input(const Tensor& tensor,
        detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : reference_(tensor.reference()), kind_(Kind::kTensor), site_(site) {}
  Input(Tensor&& tensor,
        detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : reference_(std::move(tensor).reference()), kind_(Kind::kTensor), site_(site) {}
  Input(const Variable& variable, detail::Site site = detail::Site::here());  // NOLINT
  template <class T>
    requires std::is_arithmetic_v<T>
  Input(T number, detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : site_(site) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::kBoolean;
      integer_ = number ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::kInteger;
      integer_ = detail::checked_integer(number);
    } else {
      kind_ = Kind::kReal;
      real_ = static_cast<double>(number);
    }
  }
  Input(std::string_view text,
        detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : Input(constant(text), site) {}
  Input(const char* text,
        detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : Input(constant(text), site) {}
  Input(const std::string& text, detail::Site site = detail::Site::here())  // NOLINT
      : Input(constant(std::string_view(text)), site) {}
  // A vector of integers without a dtype of its own: axes, a shape, a permutation.
  Input(std::initializer_list<int64_t> numbers, detail::Site site = detail::Site::here())  // NOLINT
      : reference_(detail::Reference(detail::make_integers(numbers.begin(), numbers.size()))),
        kind_(Kind::kIntegers),
        site_(site) {}
  Input(const Shape& shape,
        detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : reference_(detail::Reference(detail::make_shape(shape.dims().data(), shape.rank()))),
        kind_(Kind::kIntegers),
        site_(site) {}
  Input(const std::vector<int64_t>& numbers, detail::Site site = detail::Site::here())  // NOLINT
      : reference_(detail::Reference(detail::make_integers(numbers.data(), numbers.size()))),
        kind_(Kind::kIntegers),
        site_(site) {}

  // Nothing was given.
  bool is_none() const { return kind_ == Kind::kNone; }
  // As a tensor of its own dtype; numbers take `preferred`.
  Tensor to_tensor(DType preferred = DType::kInvalid) const {
    return Tensor(detail::Reference(detail::to_tensor(argument(), preferred)));
  }

  // --- For the headers ---
  detail::Argument argument() const {
    detail::Argument result;
    result.kind = kind_;
    result.site = site_;
    if (kind_ == Kind::kReal) {
      result.real = real_;
    } else if (kind_ == Kind::kInteger || kind_ == Kind::kBoolean) {
      result.integer = integer_;
    } else {
      result.handle = reference_.get();
    }
    return result;
  }

 private:
  using Kind = detail::Argument::Kind;
  detail::Reference reference_;
  union {
    int64_t integer_ = 0;
    double real_;
  };
  Kind kind_ = Kind::kNone;
  detail::Site site_;
};

// Several operands: `{x, y, 2}`, a vector of tensors, or one tensor where the function says what
// that means.
class Inputs {
 public:
  Inputs(std::initializer_list<Input> items)  // NOLINT(google-explicit-constructor)
      : items_(items) {}
  Inputs(std::vector<Input> items)  // NOLINT(google-explicit-constructor)
      : items_(std::move(items)) {}
  Inputs(const std::vector<Tensor>& tensors, detail::Site site = detail::Site::here()) {  // NOLINT
    items_.reserve(tensors.size());
    for (const Tensor& tensor : tensors) items_.emplace_back(tensor, site);
  }
  Inputs(const Tensor& tensor,
         detail::Site site = detail::Site::here())  // NOLINT(google-explicit-constructor)
      : single_(true) {
    items_.emplace_back(tensor, site);
  }
  const std::vector<Input>& items() const { return items_; }
  bool is_single_tensor() const { return single_; }

 private:
  std::vector<Input> items_;
  bool single_ = false;
};

// A value that may be left out.
template <class T>
class Maybe {
 public:
  Maybe() = default;
  template <class U>
    requires std::is_convertible_v<U&&, T>
  Maybe(U&& value)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<T>(std::forward<U>(value))), has_value_(true) {}
  bool has_value() const { return has_value_; }
  const T& value() const { return value_; }

 private:
  T value_{};
  bool has_value_ = false;
};

// One integer or several, `3`, `{1, 2}`; or none given, where they may be left out.
class Integers {
 public:
  Integers() = default;
  template <std::integral T>
  Integers(T number)  // NOLINT(google-explicit-constructor)
      : numbers_{static_cast<int64_t>(number)}, has_value_(true) {}
  Integers(std::initializer_list<int64_t> numbers)  // NOLINT(google-explicit-constructor)
      : numbers_(numbers), has_value_(true) {}
  Integers(std::vector<int64_t> numbers)  // NOLINT(google-explicit-constructor)
      : numbers_(std::move(numbers)), has_value_(true) {}
  bool has_value() const { return has_value_; }
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  std::vector<int64_t> numbers_;
  bool has_value_ = false;
};

// A word ("SAME"), or numbers that say it in detail.
class Choice {
 public:
  Choice(const char* word) : word_(word), is_word_(true) {}             // NOLINT
  Choice(std::string word) : word_(std::move(word)), is_word_(true) {}  // NOLINT
  Choice(Input numbers) : numbers_(std::move(numbers)) {}               // NOLINT
  Choice(int number, detail::Site site = detail::Site::here())
      : numbers_(number, site) {}  // NOLINT
  Choice(double number, detail::Site site = detail::Site::here())
      : numbers_(number, site) {}                                   // NOLINT
  Choice(Tensor numbers, detail::Site site = detail::Site::here())  // NOLINT
      : numbers_(std::move(numbers), site) {}
  bool is_word() const { return is_word_; }
  const std::string& word() const { return word_; }
  const Input& numbers() const { return numbers_; }

 private:
  std::string word_;
  Input numbers_;
  bool is_word_ = false;
};

// Options of functions that have no others.
struct NameOption {
  std::string name;  // of the node in a graph; "" for the op's own
};

inline Tensor Tensor::operator[](const Input& index) const {
  return Tensor(detail::Reference(detail::element(get(), index.argument())));
}

// --- Calling functions by name: what the functions in ops.h are made of ---

namespace detail {

// An argument with what it borrows.
class CallArgument {
 public:
  CallArgument(const Input& input) : argument_(input.argument()) {}  // NOLINT
  CallArgument(const Inputs& inputs) {                               // NOLINT
    if (inputs.is_single_tensor()) {
      argument_ = inputs.items().front().argument();
      return;
    }
    for (const Input& item : inputs.items()) list_.push_back(item.argument());
    argument_.kind = Argument::Kind::kArguments;
  }
  CallArgument(const Integers& integers) {  // NOLINT
    if (!integers.has_value()) return;
    argument_.kind = Argument::Kind::kNumbers;
    argument_.data = integers.numbers().data();
    argument_.size = static_cast<int64_t>(integers.numbers().size());
  }
  CallArgument(const std::string& text) {  // NOLINT
    argument_.kind = Argument::Kind::kText;
    argument_.data = text.data();
    argument_.size = static_cast<int64_t>(text.size());
  }
  CallArgument(const Choice& choice)  // NOLINT
      : CallArgument(choice.is_word() ? CallArgument(choice.word())
                                      : CallArgument(choice.numbers())) {}
  CallArgument(bool value) {  // NOLINT
    argument_.kind = Argument::Kind::kBoolean;
    argument_.integer = value;
  }
  CallArgument(int64_t value) {  // NOLINT
    argument_.kind = Argument::Kind::kInteger;
    argument_.integer = value;
  }
  CallArgument(double value) {  // NOLINT
    argument_.kind = Argument::Kind::kReal;
    argument_.real = value;
  }
  CallArgument(DType value) {  // NOLINT
    argument_.kind = value == DType::kInvalid ? Argument::Kind::kNone : Argument::Kind::kDType;
    argument_.integer = static_cast<int64_t>(value);
  }
  template <class T>
  CallArgument(const Maybe<T>& maybe) {  // NOLINT
    if (maybe.has_value()) *this = CallArgument(maybe.value());
  }
  Argument argument() const {
    Argument result = argument_;
    if (result.kind == Argument::Kind::kArguments) {
      result.data = list_.data();
      result.size = static_cast<int64_t>(list_.size());
    }
    return result;
  }

 private:
  Argument argument_;
  std::vector<Argument> list_;
};

// Receives the results of a call, each a reference of its own.
using HandleSink = void (*)(void* target, Handle* handle);
inline void append_tensor(void* target, Handle* handle) {
  static_cast<std::vector<Tensor>*>(target)->emplace_back(Reference(handle));
}

// Calls the function (or op) of this name with its arguments in order; those left out at the end
// have their defaults. `name` is the node's. Unimplemented if this library has no such function.
GW_API Handle* call_one(const char* function, const Argument* arguments, size_t count,
                        const char* name);
GW_API void call_many(const char* function, const Argument* arguments, size_t count,
                      const char* name, HandleSink sink, void* target);

template <class... Arguments>
Tensor call(const char* function, const std::string& name, const Arguments&... arguments) {
  const CallArgument given[] = {CallArgument(arguments)...};
  Argument raw[sizeof...(Arguments)];
  for (size_t i = 0; i < sizeof...(Arguments); ++i) raw[i] = given[i].argument();
  return Tensor(Reference(call_one(function, raw, sizeof...(Arguments), name.c_str())));
}
template <class... Arguments>
std::vector<Tensor> call_list(const char* function, const std::string& name,
                              const Arguments&... arguments) {
  const CallArgument given[] = {CallArgument(arguments)...};
  Argument raw[sizeof...(Arguments)];
  for (size_t i = 0; i < sizeof...(Arguments); ++i) raw[i] = given[i].argument();
  std::vector<Tensor> results;
  call_many(function, raw, sizeof...(Arguments), name.c_str(), append_tensor, &results);
  return results;
}

enum class Operator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kNegate,
  kNot,
};
GW_API Handle* apply(Operator op, const Argument* operands, size_t count);
inline Tensor apply(Operator op, const Input& left, const Input& right) {
  const Argument operands[] = {left.argument(), right.argument()};
  return Tensor(Reference(apply(op, operands, 2)));
}
inline Tensor apply(Operator op, const Input& operand) {
  const Argument argument = operand.argument();
  return Tensor(Reference(apply(op, &argument, 1)));
}

}  // namespace detail

// --- Operators ---
//
// Elementwise with NumPy's broadcasting, on tensors, variables and numbers; both tiers. dtypes must
// be equal (InvalidArgument); numbers take the other operand's. `/` is true division: of integers
// it gives floating point numbers. `%` has the sign of the divisor. Comparisons give bools; `&`,
// `|` and `!` are logical, on bools.
inline Tensor operator+(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kAdd, left, right);
}
inline Tensor operator-(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kSubtract, left, right);
}
inline Tensor operator*(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kMultiply, left, right);
}
inline Tensor operator/(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kDivide, left, right);
}
inline Tensor operator%(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kModulo, left, right);
}
inline Tensor operator==(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kEqual, left, right);
}
inline Tensor operator!=(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kNotEqual, left, right);
}
inline Tensor operator<(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kLess, left, right);
}
inline Tensor operator<=(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kLessEqual, left, right);
}
inline Tensor operator>(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kGreater, left, right);
}
inline Tensor operator>=(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kGreaterEqual, left, right);
}
inline Tensor operator&(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kAnd, left, right);
}
inline Tensor operator|(const Input& left, const Input& right) {
  return detail::apply(detail::Operator::kOr, left, right);
}
inline Tensor operator-(const Input& operand) {
  return detail::apply(detail::Operator::kNegate, operand);
}
inline Tensor operator!(const Tensor& operand) {
  return detail::apply(detail::Operator::kNot, operand);
}
inline Tensor& operator+=(Tensor& left, const Input& right) { return left = left + right; }
inline Tensor& operator-=(Tensor& left, const Input& right) { return left = left - right; }
inline Tensor& operator*=(Tensor& left, const Input& right) { return left = left * right; }
inline Tensor& operator/=(Tensor& left, const Input& right) { return left = left / right; }

}  // namespace v1
}  // namespace graphwright::api
