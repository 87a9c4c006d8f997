// A row of the op table: everything there is to know about one op. Rows are constexpr; every rule
// is given or Absent{"reason"}, and GW_CHECK_OP_TABLE names the missing rule of an incomplete row
// at compile time. Names of ops, inputs and attributes are TensorFlow's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/status.h"
#include "ir/builder.h"
#include "ir/signature.h"
#include "tensor/dtype.h"

namespace graphwright {

class KernelContext;  // ir/kernel_context.h
class ShapeContext;   // ir/rule_context.h, as are the next four
class GradientContext;
class ForwardContext;
class ConstantContext;
class BatchContext;
struct IndexMapContext;
struct FormulaDescriptor;  // kernels/formula_kernels.h

struct Absent {
  const char* reason;
};

// A function pointer, or the reason why there is none.
template <class Function>
class Rule {
 public:
  constexpr Rule() = default;
  constexpr Rule(Function function) : function_(function) {}  // NOLINT: rows read as data
  template <class Lambda>
    requires std::is_convertible_v<Lambda, Function>
  constexpr Rule(Lambda lambda) : function_(lambda) {}       // NOLINT
  constexpr Rule(Absent absent) : reason_(absent.reason) {}  // NOLINT
  constexpr bool is_decided() const { return function_ || reason_; }
  constexpr explicit operator bool() const { return function_ != nullptr; }
  constexpr Function function() const { return function_; }
  constexpr const char* reason() const { return reason_; }

 private:
  Function function_ = nullptr;
  const char* reason_ = nullptr;
};

using Kernel = Status (*)(KernelContext&);
using ShapeRule = void (*)(ShapeContext&);  // throws Error where shapes do not fit
using GradientRule = void (*)(GradientContext&);
using ForwardRule = void (*)(ForwardContext&);
using ConstantRule = void (*)(ConstantContext&);
using BatchRule = void (*)(BatchContext&);
using IndexMapRule = void (*)(IndexMapContext&);
using CostRule = double (*)(std::span<const PartialShape> inputs);  // arithmetic operations

enum Trait : uint32_t {
  kPure = 1,  // same inputs, same outputs, no effect: may be merged, moved, dropped
  kElementwise = 2,
  kCommutative = 4,
  kStateful = 8,  // has effects; GraphDef's is_stateful
  kHasBlocks = 16,
  kMayFail = 32,         // pure but raises for some values: never run where the program would not
  kZeroDerivative = 64,  // derivative is zero or undefined by definition: gradients stop, silently
};

struct TypeConstraint {
  std::string_view variable;
  DTypeSet allowed;
};

enum class ComputeKind : uint8_t {
  kNone,
  kFormula,   // elementwise
  kIndexMap,  // output index -> input index; `kernel` materialises it
  kReduction,
  kLibrary,  // products, sort, strings: a kernel
  kControl,  // If, While, Case, Call: builders, plans and autodiff know them by name
  kEffect,   // variables, print, assert, random: a kernel with effects
};

struct Compute {
  ComputeKind kind = ComputeKind::kNone;
  const FormulaDescriptor* formula = nullptr;
  Kernel kernel = nullptr;  // next to a formula: for the dtypes the formula does not take
  IndexMapRule index_map = nullptr;
};

// Masks are over the inputs (bit i: input i is a resource that is read or written).
struct Effects {
  uint32_t reads = 0;
  uint32_t writes = 0;
  bool io = false;      // one stream for the whole process: prints, asserts, files
  bool random = false;  // advances the generator state of its own call site
  bool opaque = false;  // may do anything: Python callbacks
  constexpr bool any() const { return reads || writes || io || random || opaque; }
};

// Where generated tests take inputs from, and what they compare with.
struct Reference {
  const char* numpy = nullptr;   // an expression over the inputs' names and np, e.g. "np.tanh(x)"
  const char* reason = nullptr;  // why NumPy cannot say, and where the test is instead
  double low = -4, high = 4;     // sample domain of every input unless second_* is set
  double second_low = 0, second_high = 0;  // of the second input, if different
  bool no_gradient_check = false;          // kinks or steps everywhere: numeric differences lie
};

struct OpDef {
  std::string_view name;
  Signature signature{"->"};
  std::string_view doc;  // shapes, dtypes, units, errors, source of the formula
  uint32_t traits = 0;
  std::array<TypeConstraint, 4> types{};
  Rule<ShapeRule> shape{};
  Compute compute{};
  Effects effects{};
  Rule<GradientRule> gradient{};
  Rule<ForwardRule> forward{};
  Reference reference{};
  // Optional rules: their absence has a meaning of its own.
  Rule<ConstantRule> constant = Absent{"its value is not inferred while tracing"};
  Rule<BatchRule> batching = Absent{"vectorised maps loop over it"};
  Rule<CostRule> cost = Absent{"one operation per output element"};
  uint32_t in_place_inputs = 0;  // mask: output 0 may overwrite this input at its last use
  // Public Python names of the op itself, space separated, under the package: "tanh math.tanh
  // nn.tanh". Its parameters are the signature's inputs and attributes, then name=None. Empty: the
  // op is reached through function rows and raw_ops only.
  std::string_view python_names{};
  std::string_view default_node_name{};  // base name of nodes made by those; "" = name

  constexpr bool has(Trait trait) const { return traits & trait; }
  constexpr DTypeSet allowed_types(std::string_view variable) const {
    for (const TypeConstraint& constraint : types) {
      if (constraint.variable == variable) return constraint.allowed;
    }
    return kAnyType;
  }
};

enum class MissingRule {
  kNothing,
  kName,
  kDoc,
  kShape,
  kCompute,
  kGradient,
  kForward,
  kReference,
  kEffects
};

consteval MissingRule missing_rule(const OpDef& op) {
  if (op.name.empty()) return MissingRule::kName;
  if (op.doc.size() < 20) return MissingRule::kDoc;
  if (!op.shape.is_decided()) return MissingRule::kShape;
  switch (op.compute.kind) {
    case ComputeKind::kNone:
      return MissingRule::kCompute;
    case ComputeKind::kFormula:
      if (!op.compute.formula) return MissingRule::kCompute;
      break;
    case ComputeKind::kControl:
      break;
    default:
      if (!op.compute.kernel) return MissingRule::kCompute;
  }
  if (!op.gradient.is_decided()) return MissingRule::kGradient;
  if (!op.forward.is_decided()) return MissingRule::kForward;
  if (!op.reference.numpy && !op.reference.reason) return MissingRule::kReference;
  if (op.has(kStateful) && op.compute.kind == ComputeKind::kEffect && !op.effects.any()) {
    return MissingRule::kEffects;
  }
  return MissingRule::kNothing;
}

template <size_t Row, MissingRule What>
struct CompleteRow {
  static_assert(What == MissingRule::kNothing, "op table: row `Row` lacks the rule `What`");
};
template <size_t Count>
consteval size_t first_incomplete_row(const std::array<OpDef, Count>& table) {
  for (size_t i = 0; i < Count; ++i) {
    if (missing_rule(table[i]) != MissingRule::kNothing) return i;
  }
  return Count;
}
#define GW_CHECK_OP_TABLE(table)                                                      \
  template struct ::graphwright::CompleteRow<                                         \
      ::graphwright::first_incomplete_row(table),                                     \
      ::graphwright::first_incomplete_row(table) < (table).size()                     \
          ? ::graphwright::missing_rule(                                              \
                (table)[::graphwright::first_incomplete_row(table) % (table).size()]) \
          : ::graphwright::MissingRule::kNothing>

// The registry. Families are registered once, by src/ops, before anything else runs.
void register_ops(std::span<const OpDef> table);
const OpDef* find_op(std::string_view name);  // null if there is none
const OpDef& get_op(std::string_view name);   // Unimplemented naming it if there is none
std::span<const OpDef* const> all_ops();      // in order of registration

}  // namespace graphwright
