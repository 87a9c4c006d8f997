// Sizes that are not numbers when a plan is made, but follow from the shapes of its arguments: the
// plan's prologue computes them once at the start of a run, and not at all where the arguments have
// the shapes of the frame's last run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace graphwright::runtime {

// A dimension as a plan knows it: a number (>= 0), kUnknownSize where it depends on data, or the
// name of a computed size.
using Size = int64_t;
inline constexpr Size kUnknownSize = -1;
inline constexpr bool is_computed(Size size) { return size <= -2; }
inline constexpr Size computed_size(size_t index) { return -2 - static_cast<Size>(index); }
inline constexpr size_t size_index(Size size) { return static_cast<size_t>(-2 - size); }

// What a step knows of one input of its node: its dims, and its elements where the prologue has
// them.
struct StepInput {
  const ValueType* type = nullptr;  // of handles, which have no dims
  DType dtype = DType::kInvalid;
  bool has_rank = false;
  std::vector<Size> dims;
  Tensor constant;
  int32_t value = -1;  // index among the prologue's values
};

// One step of a prologue.
struct SizeStep {
  enum class Kind : uint8_t {
    kArgument,   // size `out` = dims[dim] of argument `argument`
    kBroadcast,  // size `out` = what `a` and `b` broadcast to
    kRule,       // runs the shape rule of `node`, which also checks the shapes of its inputs
    kValue,      // runs `node`, or reads a shape: small numbers that depend on shapes only
  };
  struct RuleSize {
    int32_t output, dim;
    size_t out;
  };
  Kind kind = Kind::kArgument;
  int32_t argument = -1, dim = 0;
  Size a = kUnknownSize, b = kUnknownSize;
  size_t out = 0;
  const Node* node = nullptr;
  std::vector<StepInput> inputs;
  std::vector<RuleSize> sizes;  // kRule
  int32_t first_value = -1;     // kValue: one value per output of the node
};

// The steps in an order in which each finds its inputs computed.
struct Prologue {
  std::vector<SizeStep> steps;
  size_t size_count = 0, value_count = 0;
  // Sizes that must be equal: else the program has an error that its own run must raise, or a loop
  // variable changes its shape.
  std::vector<std::pair<Size, Size>> checks;
};

// What a prologue has computed.
struct SizeState {
  std::vector<int64_t> sizes;
  std::vector<Tensor> values;
  int64_t operator()(Size size) const { return is_computed(size) ? sizes[size_index(size)] : size; }
};

// The op needs no more of its inputs than their dims.
bool reads_shape_only(const OpDef& op);

enum class StepResult : uint8_t {
  kDone,
  kFailed,   // the shapes do not fit together: the program's own run says where
  kUnknown,  // a rule cannot tell a size from shapes
};
StepResult run_size_step(const SizeStep& step, std::span<const Tensor> arguments, SizeState& state);

// "s0", or the number; "?" where unknown.
std::string size_to_text(Size size);
std::string dims_to_text(std::span<const Size> dims);
std::string step_to_text(const SizeStep& step);

}  // namespace graphwright::runtime
