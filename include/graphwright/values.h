// How C++ functions become bodies of loops, branches and traced functions: their arguments and
// results, as plain arrays of handles. Programs do not include this.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <graphwright/input.h>
#include <graphwright/list.h>
#include <graphwright/variable.h>

namespace graphwright::api {
inline namespace v1 {
namespace detail {

// Lists stay lists; tensors, variables and numbers are tensors.
template <class T>
using ValueOf = std::conditional_t<std::is_same_v<std::remove_cvref_t<T>, List>, List, Tensor>;

template <class T>
concept Value =
    std::is_same_v<std::remove_cvref_t<T>, List> || std::is_convertible_v<const T&, Input>;

// An operand that the headers pass on, which says nothing of a line of the program.
template <class T>
Input without_site(const T& value) {
  return Input(value, Site());
}
inline const Input& without_site(const Input& value) { return value; }

// A reference of the caller's to the value, numbers taking `preferred`.
inline Handle* take(const List& list, DType) { return Reference(list.reference()).detach(); }
template <class T>
Handle* take(const T& value, DType preferred) {
  return to_tensor(without_site(value).argument(), preferred);
}

// What a function gives: nothing, one value, or a tuple of them.
template <class T>
struct Results {
  static_assert(Value<T>,
                "a traced function, loop body or branch returns a Tensor, a List, a number, or a "
                "std::tuple of them");
  using Type = ValueOf<T>;
  static constexpr size_t kCount = 1;
  static void write(const T& value, const DType* preferred, Handle** results) {
    results[0] = take(value, preferred ? preferred[0] : DType::kInvalid);
  }
  static Type read(Handle* const* results) { return Type(Reference(results[0])); }
};
template <>
struct Results<void> {
  using Type = void;
  static constexpr size_t kCount = 0;
};
template <class... T>
struct Results<std::tuple<T...>> {
  static_assert((Value<T> && ...),
                "a traced function, loop body or branch returns Tensors, Lists and numbers");
  using Type = std::tuple<ValueOf<T>...>;
  static constexpr size_t kCount = sizeof...(T);
  static void write(const std::tuple<T...>& values, const DType* preferred, Handle** results) {
    write_each(values, preferred, results, std::index_sequence_for<T...>());
  }
  static Type read(Handle* const* results) {
    return read_each(results, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... Index>
  static void write_each(const std::tuple<T...>& values, const DType* preferred, Handle** results,
                         std::index_sequence<Index...>) {
    ((results[Index] =
          take(std::get<Index>(values), preferred ? preferred[Index] : DType::kInvalid)),
     ...);
  }
  template <size_t... Index>
  static Type read_each(Handle* const* results, std::index_sequence<Index...>) {
    return Type(ValueOf<T>(Reference(results[Index]))...);
  }
};
template <class First, class Second>
struct Results<std::pair<First, Second>> : Results<std::tuple<First, Second>> {
  static void write(const std::pair<First, Second>& values, const DType* preferred,
                    Handle** results) {
    Results<std::tuple<First, Second>>::write(values, preferred, results);
  }
};

// A function over handles: arguments are borrowed, results are references for the caller. Slots of
// results that were set before an exception are released by the caller.
using Body = void (*)(void* function, Handle* const* arguments, Handle** results,
                      const DType* preferred);

// The value of an argument, sharing the caller's reference.
template <class T>
T borrowed(Handle* handle) {
  retain(handle);
  return T(Reference(handle));
}

// Calls a function, of whatever value category it was passed, with arguments of the types T.
template <class Passed, class... T>
struct Call {
  using Function = std::remove_reference_t<Passed>;
  using Result = std::invoke_result_t<Function&, T...>;
  using Shape = Results<std::remove_cvref_t<Result>>;

  static void body(void* function, Handle* const* arguments, Handle** results,
                   const DType* preferred) {
    invoke(*static_cast<Function*>(function), arguments, results, preferred,
           std::index_sequence_for<T...>());
  }

 private:
  template <size_t... Index>
  static void invoke(Function& function, [[maybe_unused]] Handle* const* arguments,
                     [[maybe_unused]] Handle** results, [[maybe_unused]] const DType* preferred,
                     std::index_sequence<Index...>) {
    if constexpr (Shape::kCount == 0 && std::is_void_v<Result>) {
      function(borrowed<T>(arguments[Index])...);
    } else {
      Shape::write(function(borrowed<T>(arguments[Index])...), preferred, results);
    }
  }
};
template <class Function>
void* address_of(Function& function) {
  return const_cast<void*>(static_cast<const void*>(&function));
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
