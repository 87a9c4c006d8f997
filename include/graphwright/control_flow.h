// Loops and branches. In a traced function they become nodes of its graph, whose number of
// iterations and whose branch are decided when it runs; eagerly they run at once.
#pragma once

#include <string>
#include <vector>

#include <graphwright/values.h>

namespace graphwright::api {
inline namespace v1 {

struct WhileOptions {
  // An integer scalar; none: no limit.
  Input maximum_iterations{};
  // Shapes that the carried values keep in all iterations; empty: those of the initial values. A
  // list's is its element shape's, which is not looked at.
  std::vector<Shape> shape_invariants{};
  std::string name = "while";
};

namespace detail {
// Results: as many as are carried. Bodies get the carried values.
GW_API void while_loop(const Argument& limit, const RawShape* invariants, size_t invariant_count,
                       const char* name, Body condition, void* condition_function, Body body,
                       void* body_function, Handle** carried, size_t count, Site site);
GW_API void branch(const Argument& condition, Body then_branch, void* then_function,
                   Body else_branch, void* else_function, Handle** results, size_t count,
                   const char* name);
}  // namespace detail

// while (condition(carried...)) carried... = body(carried...);
//
//   auto [i, total] = gw::while_loop([&](Tensor i, Tensor) { return i < n; },
//                                    [&](Tensor i, Tensor total) {
//                                      return std::tuple(i + 1, total + i);
//                                    },
//                                    0, 0);
//
// Carried values are tensors, lists and numbers (which become int32 or float32 scalars). The body
// gets one argument for each and returns the next ones: one value, or a std::tuple of them; so does
// while_loop return the last ones. The condition returns a bool scalar. While a function is traced,
// both are called to make the loop's blocks, more than once if shapes change; what they use from
// outside need not be carried.
//
// InvalidArgument when a carried value changes its dtype, or its shape and no invariant allows it,
// and when the condition is no bool scalar. Derivatives go through loops, in traced functions too.
template <class Condition, class Body, class... Carried>
auto while_loop(const WhileOptions& options, Condition&& condition, Body&& body,
                const Carried&... carried) {
  static_assert(sizeof...(Carried) > 0, "a loop carries at least one value");
  static_assert((detail::Value<Carried> && ...),
                "a loop carries Tensors, Lists, Variables' values and numbers");
  using ConditionCall = detail::Call<Condition, detail::ValueOf<Carried>...>;
  using BodyCall = detail::Call<Body, detail::ValueOf<Carried>...>;
  static_assert(ConditionCall::Shape::kCount == 1, "the condition returns one bool");
  static_assert(BodyCall::Shape::kCount == sizeof...(Carried),
                "the body returns as many values as are carried");
  using Last = std::conditional_t<sizeof...(Carried) == 1,
                                  detail::Results<std::tuple_element_t<0, std::tuple<Carried...>>>,
                                  detail::Results<std::tuple<Carried...>>>;
  detail::Reference first[] = {detail::Reference(detail::take(carried, DType::kInvalid))...};
  detail::Handle* values[sizeof...(Carried)];
  for (size_t i = 0; i < sizeof...(Carried); ++i) values[i] = first[i].get();
  std::vector<detail::RawShape> invariants;
  for (const Shape& shape : options.shape_invariants) invariants.push_back(shape.raw());
  // On return the values are references to the last ones.
  detail::while_loop(options.maximum_iterations.argument(), invariants.data(), invariants.size(),
                     options.name.c_str(), ConditionCall::body, detail::address_of(condition),
                     BodyCall::body, detail::address_of(body), values, sizeof...(Carried),
                     options.maximum_iterations.argument().site);
  return Last::read(values);
}
template <class Condition, class Body, class... Carried>
  requires(!std::is_same_v<std::remove_cvref_t<Condition>, WhileOptions>)
auto while_loop(Condition&& condition, Body&& body, const Carried&... carried) {
  return while_loop(WhileOptions(), std::forward<Condition>(condition), std::forward<Body>(body),
                    carried...);
}

// then_branch() where the condition, a bool scalar, is true, else_branch() otherwise: functions
// without arguments that return equally many values of equal dtypes (InvalidArgument), or nothing.
// While a function is traced, both are called. Dimensions in which results differ are unknown.
template <class Then, class Else>
auto cond(const Input& condition, Then&& then_branch, Else&& else_branch,
          const std::string& name = "cond") {
  using ThenCall = detail::Call<Then>;
  using ElseCall = detail::Call<Else>;
  static_assert(std::is_same_v<typename ThenCall::Shape::Type, typename ElseCall::Shape::Type>,
                "both branches return the same kinds of values");
  constexpr size_t count = ThenCall::Shape::kCount;
  detail::Handle* results[count + 1] = {};
  detail::branch(condition.argument(), ThenCall::body, detail::address_of(then_branch),
                 ElseCall::body, detail::address_of(else_branch), results, count, name.c_str());
  if constexpr (count > 0) return ThenCall::Shape::read(results);
}

}  // namespace v1
}  // namespace graphwright::api
