// Descriptors of formulas: what they take, where their kernels are, and how they are recorded.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "formulas/expression.h"
#include "formulas/formula.h"
#include "kernels/formula_kernels.h"

namespace graphwright::recording {

template <DType Type>
struct NumberOf {
  using Real = Recorded<typename NativeElement<Type>::Scalar>;
  using Value = std::conditional_t<NativeElement<Type>::kIsComplexNumber, Complex<Real>, Real>;
};
template <DType Type, OperandRole Role>
using OperandNumber = std::conditional_t<
    Role == OperandRole::kValue, typename NumberOf<Type>::Value,
    std::conditional_t<Role == OperandRole::kMask, RecordedMask, typename NumberOf<Type>::Real>>;

template <class Number>
Number argument(int index) {
  if constexpr (std::is_same_v<Number, RecordedMask>) {
    return {record_argument(DType::kBool, index, 0)};
  } else if constexpr (kIsComplex<Number>) {
    constexpr DType kPart = dtype_of_scalar<ElementOf<RealOf<Number>>>();
    return {{record_argument(kPart, index, 0)}, {record_argument(kPart, index, 1)}};
  } else {
    return {record_argument(dtype_of_scalar<ElementOf<Number>>(), index, 0)};
  }
}

template <class F, DType Type>
inline constexpr bool kMayFail = std::is_integral_v<typename NativeElement<Type>::Scalar> &&
                                 requires(typename NumberOf<Type>::Value v) {
                                   requires F::kArity == 2;
                                   F::error(v, v);
                                 };

// A narrow dtype's graph is that of the type that it computes in: arguments are converted before,
// the result after, as `argument_types` and `result_type` say.
template <class F, DType Type>
void record_as(DType type, ExpressionGraph& graph) {
  graph.argument_types.clear();
  for (int i = 0; i < F::kArity; ++i) {
    graph.argument_types.push_back(operand_dtype(F::kOperands[i], type));
  }
  graph.result_type = operand_dtype(F::kResult, type);
  Recorder recorder(graph);
  auto finish = [&](auto... numbers) {
    if constexpr (kMayFail<F, Type>) graph.error = F::error(numbers...).id;
    auto result = F::apply(numbers...);
    if constexpr (kIsComplex<decltype(result)>) {
      graph.results = {result.real.id, result.imaginary.id};
    } else {
      graph.results[0] = result.id;
    }
  };
  if constexpr (F::kArity == 1) {
    finish(argument<OperandNumber<Type, F::kOperands[0]>>(0));
  } else if constexpr (F::kArity == 2) {
    finish(argument<OperandNumber<Type, F::kOperands[0]>>(0),
           argument<OperandNumber<Type, F::kOperands[1]>>(1));
  } else {
    finish(argument<OperandNumber<Type, F::kOperands[0]>>(0),
           argument<OperandNumber<Type, F::kOperands[1]>>(1),
           argument<OperandNumber<Type, F::kOperands[2]>>(2));
  }
}

template <class F, DType Type>
bool record_if(DType type, ExpressionGraph& graph) {
  if constexpr (F::kTypes.contains(Type)) {
    if (computing_type(type) == Type) {
      record_as<F, Type>(type, graph);
      return true;
    }
  } else {
    // A narrow dtype may compute in a type that the formula does not list.
    constexpr bool kNeeded = [] {
      for (int i = 1; i < kDTypeCount; ++i) {
        if (F::kTypes.contains(static_cast<DType>(i)) &&
            computing_type(static_cast<DType>(i)) == Type) {
          return true;
        }
      }
      return false;
    }();
    if constexpr (kNeeded) {
      if (computing_type(type) == Type) {
        record_as<F, Type>(type, graph);
        return true;
      }
    }
  }
  return false;
}

template <class F>
void record_formula_of(DType type, ExpressionGraph& graph) {
  (void)(record_if<F, DType::kFloat>(type, graph) || record_if<F, DType::kDouble>(type, graph) ||
         record_if<F, DType::kInt32>(type, graph) || record_if<F, DType::kInt64>(type, graph) ||
         record_if<F, DType::kUint32>(type, graph) || record_if<F, DType::kUint64>(type, graph) ||
         record_if<F, DType::kBool>(type, graph) || record_if<F, DType::kComplex64>(type, graph) ||
         record_if<F, DType::kComplex128>(type, graph));
}

// Formulas are named as their structs.
template <class F>
constexpr std::string_view formula_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  size_t end = text.find(';');
  if (end == std::string_view::npos) end = text.rfind(']');
  text = text.substr(0, end);
  size_t colon = text.rfind(':');
  size_t space = text.rfind(' ');
  size_t start = colon == std::string_view::npos || space > colon ? space : colon;
  return text.substr(start + 1);
}

template <class F>
constexpr DTypeSet error_types_of() {
  DTypeSet result;
  if constexpr (requires(Recorded<int32_t> v) {
                  requires F::kArity == 2;
                  F::error(v, v);
                }) {
    result = F::kTypes & kInteger;
  }
  return result;
}

template <class F>
constexpr std::string_view error_message_of() {
  if constexpr (requires { F::kErrorMessage; }) {
    return F::kErrorMessage;
  } else {
    return error_types_of<F>().empty() ? "" : "Integer division by zero";
  }
}

template <class... Formulas>
struct FormulaList {
  static constexpr int kCount = sizeof...(Formulas);

  template <class F>
  static consteval size_t index_of() {
    static_assert((std::is_same_v<F, Formulas> || ...), "not a formula of this family");
    size_t index = 0;
    (void)((std::is_same_v<F, Formulas> || (++index, false)) || ...);
    return index;
  }

  static consteval std::array<FormulaDescriptor, kCount> descriptors(
      std::array<const FormulaKernels*, kIsaCount> tables) {
    std::array<FormulaDescriptor, kCount> result{
        FormulaDescriptor{formula_name<Formulas>(),
                          signature_of<Formulas>(),
                          {},
                          &record_formula_of<Formulas>,
                          error_types_of<Formulas>(),
                          error_message_of<Formulas>()}...};
    for (size_t i = 0; i < kCount; ++i) {
      for (size_t isa = 0; isa < kIsaCount; ++isa) result[i].kernels[isa] = tables[isa] + i;
    }
    return result;
  }
};

}  // namespace graphwright::recording
