// GW_FORMULA_FAMILY(name, Formula...), at the end of a file's formulas and outside any namespace:
// exports the kernels of a vector width, or the descriptors of the formulas. After it op rows,
// within
// `#ifndef GW_ISA`, say name_formula<Tanh>() for the const FormulaDescriptor* of a formula.
#pragma once

#include "formulas/formula.h"
#include "kernels/formula_kernels.h"

#ifdef GW_ISA

#include "kernels/elementwise_kernels.h"

namespace graphwright::GW_NUMBERS {
template <class... Formulas>
struct FormulaList {
  static consteval FormulaKernelTable<sizeof...(Formulas)> kernels() {
    return {{make_kernels<Formulas>()...}};
  }
};
}  // namespace graphwright::GW_NUMBERS

#define GW_FORMULA_FAMILY(family, ...)                                                    \
  namespace graphwright::GW_NUMBERS {                                                     \
  extern constinit const decltype(FormulaList<__VA_ARGS__>::kernels()) family##_kernels = \
      FormulaList<__VA_ARGS__>::kernels();                                                \
  }

#else

#include "kernels/formula_recording.h"

#define GW_DECLARE_FORMULA_KERNELS(isa, family, count) \
  namespace isa {                                      \
  extern const FormulaKernelTable<count> family;       \
  }

#if defined(__x86_64__)
#define GW_DECLARE_FAMILY_KERNELS(family, count)             \
  GW_DECLARE_FORMULA_KERNELS(sse42, family##_kernels, count) \
  GW_DECLARE_FORMULA_KERNELS(avx2, family##_kernels, count)  \
  GW_DECLARE_FORMULA_KERNELS(avx512, family##_kernels, count)
#define GW_FAMILY_KERNELS(family) \
  sse42::family##_kernels.rows, avx2::family##_kernels.rows, avx512::family##_kernels.rows
#else
#define GW_DECLARE_FAMILY_KERNELS(family, count) \
  GW_DECLARE_FORMULA_KERNELS(generic, family##_kernels, count)
#define GW_FAMILY_KERNELS(family) generic::family##_kernels.rows
#endif

#define GW_FORMULA_FAMILY(family, ...)                                                           \
  namespace graphwright {                                                                        \
  namespace recording {                                                                          \
  using family##_list = FormulaList<__VA_ARGS__>;                                                \
  }                                                                                              \
  GW_DECLARE_FAMILY_KERNELS(family, recording::family##_list::kCount)                            \
  static constexpr auto family##_formulas =                                                      \
      recording::family##_list::descriptors({GW_FAMILY_KERNELS(family)});                        \
  [[maybe_unused]] static const FormulaFamily family##_family(#family, family##_formulas.data(), \
                                                              recording::family##_list::kCount); \
  template <class F>                                                                             \
  [[maybe_unused]] static consteval const FormulaDescriptor* family##_formula() {                \
    return &family##_formulas[recording::family##_list::index_of<F>()];                          \
  }                                                                                              \
  }

#endif
