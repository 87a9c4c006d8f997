// Batching rules: how one op works on all iterations of a vectorized map together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attribute.h"
#include "ir/builder.h"
#include "ir/opdef.h"
#include "ops/batching.h"

namespace graphwright {

// What a rule is told, and how it answers. Ranks and shapes are those of one iteration.
class BatchContext {
 public:
  BatchContext(Builder& builder, const OpDef& op, const Attributes& attributes,
               std::span<const BatchedOperand> inputs, const Operand& count)
      : builder_(builder), attributes_(op, attributes), inputs_(inputs), count_(count) {}
  Builder& builder() { return builder_; }
  const AttributeReader& attributes() const { return attributes_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool batched(int index) const { return inputs_[static_cast<size_t>(index)].batched; }
  const Operand& input(int index) const { return inputs_[static_cast<size_t>(index)].operand; }
  int rank(int index) const;  // Unimplemented if it is not known
  PartialShape shape(int index) const;
  const Operand& count() const { return count_; }

  // The input with its first dimension, and dimensions of size 1 behind that up to the rank.
  Operand ranked(int index, int wanted);
  // The input with the first dimension, repeated if it has none.
  Operand stacked(int index);
  Operand repeated(const Operand& operand);
  // An input that must be the same in every iteration; its values where they must be known.
  Operand unbatched(int index) const;
  std::vector<int64_t> known_integers(int index) const;
  // Integers as a vector of the dtype of an input; the count, or a vector, in front of a vector.
  Operand integers(int like, std::span<const int64_t> values);
  Operand with_count(const Operand& vector);
  Operand joined(const Operand& first, const Operand& second);

  OperandVector apply(std::string_view op_name, std::span<const Operand> inputs,
                      const Attributes& attributes);
  void set_all(OperandVector outputs, bool batched = true);
  std::vector<BatchedOperand> take_outputs() { return std::move(outputs_); }
  [[noreturn]] void fail(const std::string& reason) const;  // Unimplemented naming the op

 private:
  Builder& builder_;
  AttributeReader attributes_;
  std::span<const BatchedOperand> inputs_;
  Operand count_;
  std::vector<BatchedOperand> outputs_;
};

// The row's own rule, that of its class (elementwise ops share one), or the table's; null if there
// is none.
BatchRule find_batch_rule(const OpDef& op);

}  // namespace graphwright
