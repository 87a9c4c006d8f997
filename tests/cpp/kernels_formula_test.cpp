// Every formula, for every dtype: the kernels of each vector width and the scalar kernels give the
// bits of the reference interpreter.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formulas/expression.h"
#include "kernels/formula_kernels.h"
#include "loops/expression_interpreter.h"

namespace graphwright {
namespace {

using Bytes = std::vector<char>;

template <class T>
void append(Bytes& bytes, T value) {
  const char* from = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

template <class T>
void append_floats(Bytes& bytes, std::mt19937_64& random, int count) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       T(-0.0),
                       T(1),
                       T(-1),
                       T(0.5),
                       T(-0.5),
                       T(1.5),
                       T(2.5),
                       T(-2.5),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       Limits::min() / 3,
                       Limits::epsilon(),
                       T(88.5),
                       T(-103.9),
                       T(709.5),
                       T(-745.1),
                       T(1e5),
                       T(-3e7),
                       T(2147483648.0)};
  std::uniform_real_distribution<double> exponent(-40, 38), plain(-20, 20);
  for (int i = 0; i < count; ++i) {
    uint64_t choice = random();
    if (choice % 4 == 0) {
      append(bytes, special[(choice >> 8) % std::size(special)]);
    } else if (choice % 4 == 1) {
      double value = std::pow(10.0, exponent(random));
      append(bytes, static_cast<T>(choice >> 63 ? -value : value));
    } else {
      append(bytes, static_cast<T>(plain(random)));
    }
  }
}

template <class T>
void append_integers(Bytes& bytes, std::mt19937_64& random, int count) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0), T(1), static_cast<T>(-1), Limits::min(), Limits::max(), T(2), T(7)};
  for (int i = 0; i < count; ++i) {
    uint64_t choice = random();
    if (choice % 3 == 0) {
      append(bytes, special[(choice >> 8) % std::size(special)]);
    } else if (choice % 3 == 1) {
      append(bytes, static_cast<T>(static_cast<int64_t>((choice >> 8) % 41) - 20));
    } else {
      append(bytes, static_cast<T>(choice >> 8));
    }
  }
}

Bytes sample(DType type, int count, std::mt19937_64& random) {
  Bytes bytes;
  switch (type) {
    case DType::kFloat:
      append_floats<float>(bytes, random, count);
      break;
    case DType::kDouble:
      append_floats<double>(bytes, random, count);
      break;
    case DType::kComplex64:
      append_floats<float>(bytes, random, 2 * count);
      break;
    case DType::kComplex128:
      append_floats<double>(bytes, random, 2 * count);
      break;
    case DType::kInt8:
      append_integers<int8_t>(bytes, random, count);
      break;
    case DType::kInt16:
      append_integers<int16_t>(bytes, random, count);
      break;
    case DType::kInt32:
      append_integers<int32_t>(bytes, random, count);
      break;
    case DType::kInt64:
      append_integers<int64_t>(bytes, random, count);
      break;
    case DType::kUint32:
      append_integers<uint32_t>(bytes, random, count);
      break;
    case DType::kUint64:
      append_integers<uint64_t>(bytes, random, count);
      break;
    case DType::kBool:
      for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(random() & 1));
      break;
    case DType::kUint16:
      append_integers<uint16_t>(bytes, random, count);
      break;
    case DType::kUint8:
      append_integers<uint8_t>(bytes, random, count);
      break;
    default:  // small floating types: any bits are a value
      for (size_t i = 0; i < static_cast<size_t>(count) * dtype_size(type); ++i) {
        bytes.push_back(static_cast<char>(random()));
      }
  }
  return bytes;
}

// Whether the part of an element at `bits` is a NaN.
bool is_nan_part(DType type, const char* element) {
  switch (type) {
    case DType::kFloat:
    case DType::kComplex64: {
      float value;
      std::memcpy(&value, element, sizeof value);
      return std::isnan(value);
    }
    case DType::kDouble:
    case DType::kComplex128: {
      double value;
      std::memcpy(&value, element, sizeof value);
      return std::isnan(value);
    }
    case DType::kHalf:
    case DType::kBfloat16: {
      uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return (bits & 0x7fff) > (type == DType::kHalf ? 0x7c00 : 0x7f80);
    }
    case DType::kFloat8E5m2:
      return (*element & 0x7f) > 0x7c;
    case DType::kFloat8E4m3fn:
      return (*element & 0x7f) == 0x7f;
    default:
      return false;
  }
}

// The index of the first element that differs, NaNs being all alike, or -1.
int64_t first_difference(DType type, const Bytes& left, const Bytes& right, int64_t count) {
  const size_t parts = is_complex(type) ? 2 : 1;
  const size_t size = dtype_size(type) / parts;
  for (size_t i = 0; i < static_cast<size_t>(count) * parts; ++i) {
    const char* a = left.data() + i * size;
    const char* b = right.data() + i * size;
    if (std::memcmp(a, b, size) == 0) continue;
    if (is_nan_part(type, a) && is_nan_part(type, b)) continue;
    return static_cast<int64_t>(i / parts);
  }
  return -1;
}

std::string hexadecimal(const char* bytes, size_t count) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (size_t i = count; i-- > 0;) {
    text += digits[static_cast<unsigned char>(bytes[i]) >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

struct Case {
  const FormulaDescriptor& formula;
  DType type;
  ExpressionGraph graph;
};

template <class Visit>
void for_each_case(Visit visit) {
  for (const FormulaFamily* family = first_formula_family(); family; family = family->next) {
    for (int f = 0; f < family->count; ++f) {
      const FormulaDescriptor& formula = family->formulas[f];
      for (int t = 1; t < kDTypeCount; ++t) {
        DType type = static_cast<DType>(t);
        if (!formula.signature.types.contains(type)) continue;
        visit(Case{formula, type, record_formula(formula, type)});
      }
    }
  }
}

// Inputs of a case, and what the interpreter makes of them.
struct Expected {
  std::vector<Bytes> operands;
  int64_t steps[kMaxFormulaOperands] = {};
  Bytes result;
  int64_t error = -1;
};

Expected expect(const Case& c, int count, int repeated_mask, std::mt19937_64& random) {
  Expected expected;
  const void* data[kMaxFormulaOperands] = {};
  for (int k = 0; k < c.formula.signature.arity; ++k) {
    DType type = operand_dtype(c.formula.signature.operands[k], c.type);
    expected.steps[k] = repeated_mask >> k & 1 ? 0 : 1;
    expected.operands.push_back(sample(type, expected.steps[k] ? count : 1, random));
  }
  for (size_t k = 0; k < expected.operands.size(); ++k) data[k] = expected.operands[k].data();
  expected.result.resize(static_cast<size_t>(count) * dtype_size(c.formula.result_dtype(c.type)));
  expected.error =
      interpret_expression(c.graph, expected.result.data(), data, expected.steps, count);
  return expected;
}

void check_case(const Case& c, Isa isa, int count, int repeated_mask, std::mt19937_64& random) {
  Expected expected = expect(c, count, repeated_mask, random);
  const DType result_type = c.formula.result_dtype(c.type);
  const size_t size = dtype_size(result_type);
  const void* data[kMaxFormulaOperands] = {};
  for (size_t k = 0; k < expected.operands.size(); ++k) data[k] = expected.operands[k].data();
  const FormulaKernels& kernels = *c.formula.kernels[static_cast<size_t>(isa)];
  constexpr size_t kGuard = 64;
  Bytes result(expected.result.size() + kGuard, char(0x5a));
  int64_t error =
      kernels.elementwise[static_cast<size_t>(c.type)](result.data(), data, expected.steps, count);
  INFO(c.formula.name << " " << dtype_name(c.type) << " " << isa_name(isa) << " count " << count
                      << " repeated " << repeated_mask);
  CHECK(error == expected.error);
  for (size_t i = 0; i < kGuard; ++i) CHECK(result[expected.result.size() + i] == 0x5a);
  const int64_t valid = error >= 0 ? error : count;
  int64_t different = first_difference(result_type, result, expected.result, valid);
  if (different >= 0) {
    std::string inputs;
    for (size_t k = 0; k < expected.operands.size(); ++k) {
      size_t bytes = dtype_size(operand_dtype(c.formula.signature.operands[k], c.type));
      inputs += " " + hexadecimal(expected.operands[k].data() +
                                      static_cast<size_t>(different * expected.steps[k]) * bytes,
                                  bytes);
    }
    FAIL_CHECK(
        "element " << different << " of operands" << inputs << ": kernel "
                   << hexadecimal(result.data() + static_cast<size_t>(different) * size, size)
                   << ", interpreter "
                   << hexadecimal(expected.result.data() + static_cast<size_t>(different) * size,
                                  size));
  }
  if (count == 0) return;
  // The scalar kernel, on the last valid element or the one in error.
  const int64_t at = error >= 0 ? error : count - 1;
  const char* element[kMaxFormulaOperands] = {};
  for (size_t k = 0; k < expected.operands.size(); ++k) {
    size_t bytes = dtype_size(operand_dtype(c.formula.signature.operands[k], c.type));
    element[k] = expected.operands[k].data() + static_cast<size_t>(at * expected.steps[k]) * bytes;
  }
  Bytes scalar(size);
  bool failed = kernels.scalar[static_cast<size_t>(c.type)](scalar.data(), element[0], element[1],
                                                            element[2]);
  CHECK(failed == (error >= 0));
  if (!failed) {
    Bytes one(expected.result.begin() + at * static_cast<int64_t>(size),
              expected.result.begin() + (at + 1) * static_cast<int64_t>(size));
    INFO("scalar kernel gives " << hexadecimal(scalar.data(), size) << ", interpreter "
                                << hexadecimal(one.data(), size));
    CHECK(first_difference(result_type, scalar, one, 1) == -1);
  }
}

TEST_CASE("kernels of every width give the bits of the reference interpreter") {
  for (int i = 0; i < kIsaCount; ++i) {
    Isa isa = static_cast<Isa>(i);
    if (!cpu_supports(isa)) {
      MESSAGE("skipped: this CPU does not have " << isa_name(isa));
      continue;
    }
    std::mt19937_64 random(2026);
    for_each_case([&](const Case& c) {
      const int masks = 1 << c.formula.signature.arity;
      for (int count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 130}) {
        check_case(c, isa, count, count % masks, random);
      }
      for (int mask = 0; mask < masks; ++mask) check_case(c, isa, 700, mask, random);
    });
  }
}

TEST_CASE("a kernel may overwrite an operand") {
  std::mt19937_64 random(7);
  for_each_case([&](const Case& c) {
    const FormulaSignature& signature = c.formula.signature;
    const size_t size = dtype_size(c.formula.result_dtype(c.type));
    for (int k = 0; k < signature.arity; ++k) {
      if (dtype_size(operand_dtype(signature.operands[k], c.type)) != size) continue;
      Expected expected = expect(c, 300, 0, random);
      const void* data[kMaxFormulaOperands] = {};
      for (size_t j = 0; j < expected.operands.size(); ++j) data[j] = expected.operands[j].data();
      Bytes& target = expected.operands[static_cast<size_t>(k)];
      int64_t error = c.formula.elementwise(c.type)(target.data(), data, expected.steps, 300);
      INFO(c.formula.name << " " << dtype_name(c.type) << " operand " << k);
      CHECK(error == expected.error);
      CHECK(first_difference(c.formula.result_dtype(c.type), target, expected.result,
                             error >= 0 ? error : 300) == -1);
    }
  });
}

TEST_CASE("formulas are found by name") {
  REQUIRE(find_formula("Tanh"));
  CHECK(find_formula("Tanh")->signature.arity == 1);
  CHECK(find_formula("Add")->signature.arity == 2);
  CHECK(find_formula("NoSuchFormula") == nullptr);
  CHECK_THROWS(record_formula(*find_formula("Tanh"), DType::kInt32));
}

}  // namespace
}  // namespace graphwright
