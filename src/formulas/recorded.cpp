#include "formulas/recorded.h"

#include <cinttypes>
#include <cstdio>

#include "base/status.h"

namespace graphwright {

namespace recording {

namespace {
thread_local ExpressionGraph* current_graph = nullptr;
}

Recorder::Recorder(ExpressionGraph& graph) : outer_(current_graph) { current_graph = &graph; }
Recorder::~Recorder() { current_graph = outer_; }

int32_t record_node(const ExpressionNode& node) {
  if (!current_graph) throw_internal("a formula is recorded outside a Recorder");
  std::vector<ExpressionNode>& nodes = current_graph->nodes;
  // Formulas have some tens of nodes, so a search from the end beats a hash table.
  for (size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i] == node) return static_cast<int32_t>(i);
  }
  nodes.push_back(node);
  return static_cast<int32_t>(nodes.size() - 1);
}

int32_t record(ExpressionOp op, DType type, int32_t a, int32_t b, int32_t c) {
  return record_node({.op = op, .type = type, .operands = {a, b, c}});
}

int32_t record_constant(DType type, uint64_t bits) {
  return record_node({.op = ExpressionOp::kConstant, .type = type, .bits = bits});
}

int32_t record_argument(DType type, int index, int part) {
  return record_node({.op = ExpressionOp::kArgument,
                      .type = type,
                      .index = static_cast<uint8_t>(index),
                      .part = static_cast<uint8_t>(part)});
}

}  // namespace recording

namespace {

constexpr const char* kOpNames[] = {
    "argument", "constant",   "add",    "subtract", "multiply",   "divide",      "negate",
    "absolute", "sqrt",       "fma",    "round",    "floor",      "ceil",        "truncate",
    "and",      "or",         "xor",    "not",      "shift_left", "shift_right", "equal",
    "less",     "less_equal", "select", "bit_cast", "convert",    "call"};
static_assert(std::size(kOpNames) == static_cast<size_t>(ExpressionOp::kCall) + 1);

}  // namespace

std::string ExpressionGraph::to_string() const {
  std::string text;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& node = nodes[i];
    text += "%" + std::to_string(i) + " = " + kOpNames[static_cast<size_t>(node.op)];
    if (node.function) text += std::string(" ") + node.function->name;
    if (node.op == ExpressionOp::kArgument) {
      text += " " + std::to_string(node.index);
      if (node.part) text += " imaginary";
    }
    if (node.op == ExpressionOp::kConstant) {
      char bits[24];
      std::snprintf(bits, sizeof bits, " 0x%" PRIx64, node.bits);
      text += bits;
    }
    for (int32_t operand : node.operands) {
      if (operand >= 0) text += " %" + std::to_string(operand);
    }
    text += ": " + std::string(dtype_name(node.type)) + "\n";
  }
  text += "return %" + std::to_string(results[0]);
  if (results[1] >= 0) text += ", %" + std::to_string(results[1]);
  if (error >= 0) text += " unless %" + std::to_string(error);
  return text + "\n";
}

}  // namespace graphwright
