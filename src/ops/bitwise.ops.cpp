// Elementwise operations on the bits of integers.
#include "kernels/formula_family.h"

namespace graphwright::GW_NUMBERS {
namespace {

struct BitwiseAnd : Binary {
  static constexpr DTypeSet kTypes = kInteger;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x & y;
  }
};

struct BitwiseOr : Binary {
  static constexpr DTypeSet kTypes = kInteger;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x | y;
  }
};

struct BitwiseXor : Binary {
  static constexpr DTypeSet kTypes = kInteger;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x, V y) {
    return x ^ y;
  }
};

struct Invert : Unary {
  static constexpr DTypeSet kTypes = kInteger;
  static constexpr bool kSignAgnostic = true;
  template <class V>
  static V apply(V x) {
    return ~x;
  }
};

}  // namespace
}  // namespace graphwright::GW_NUMBERS

GW_FORMULA_FAMILY(bitwise, BitwiseAnd, BitwiseOr, BitwiseXor, Invert)

#ifndef GW_ISA

#include "ops/op_support.h"

namespace graphwright {
namespace {

// What the rows of two operands share.
constexpr OpDef bitwise_row(std::string_view name, std::string_view doc, std::string_view names,
                            const FormulaDescriptor* formula, const char* numpy) {
  return {.name = name,
          .signature = "x: T, y: T -> z: T",
          .doc = doc,
          .traits = kPure | kElementwise | kCommutative | kZeroDerivative,
          .types = {{{"T", kInteger}}},
          .shape = &shape_broadcast,
          .compute = {ComputeKind::kFormula, formula},
          .gradient = Absent{"integers have no derivative"},
          .forward = Absent{"integers have no derivative"},
          .reference = {.numpy = numpy},
          .in_place_inputs = 3,
          .python_names = names};
}

constexpr std::array kBitwiseOps{
    bitwise_row(
        "BitwiseAnd", "The bits set in both of each pair of elements, broadcast as NumPy does.",
        "bitwise.bitwise_and", bitwise_formula<recording::BitwiseAnd>(), "np.bitwise_and(x, y)"),
    bitwise_row(
        "BitwiseOr", "The bits set in either of each pair of elements, broadcast as NumPy does.",
        "bitwise.bitwise_or", bitwise_formula<recording::BitwiseOr>(), "np.bitwise_or(x, y)"),
    bitwise_row(
        "BitwiseXor", "The bits set in one of each pair of elements, broadcast as NumPy does.",
        "bitwise.bitwise_xor", bitwise_formula<recording::BitwiseXor>(), "np.bitwise_xor(x, y)"),
    OpDef{.name = "Invert",
          .signature = "x: T -> y: T",
          .doc = "Every bit of each element flipped. y has the shape and dtype of x.",
          .traits = kPure | kElementwise | kZeroDerivative,
          .types = {{{"T", kInteger}}},
          .shape = &shape_unchanged,
          .compute = {ComputeKind::kFormula, bitwise_formula<recording::Invert>()},
          .gradient = Absent{"integers have no derivative"},
          .forward = Absent{"integers have no derivative"},
          .reference = {.numpy = "np.invert(x)"},
          .in_place_inputs = 1,
          .python_names = "bitwise.invert"},
};

}  // namespace
GW_REGISTER_OPS(kBitwiseOps);
}  // namespace graphwright

#endif
