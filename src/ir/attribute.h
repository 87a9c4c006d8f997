// Attribute values of nodes, in the order of the op's signature.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/signature.h"
#include "tensor/tensor.h"

namespace graphwright {

using AttributeValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, DType, PartialShape, Tensor,
                 std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<DType>, std::vector<PartialShape>>;

// Positions of the signature that are not set, or lie beyond the end, hold the default: an empty
// Attributes is "all defaults" and costs nothing.
class Attributes {
 public:
  Attributes() = default;
  bool empty() const { return values_.empty(); }
  bool has(int index) const {
    return static_cast<size_t>(index) < values_.size() &&
           !std::holds_alternative<std::monostate>(values_[static_cast<size_t>(index)]);
  }
  Attributes& set(int index, AttributeValue value) {
    if (values_.size() <= static_cast<size_t>(index))
      values_.resize(static_cast<size_t>(index) + 1);
    values_[static_cast<size_t>(index)] = std::move(value);
    return *this;
  }
  // Only for positions that has() says are set.
  const AttributeValue& raw(int index) const { return values_[static_cast<size_t>(index)]; }

 private:
  std::vector<AttributeValue> values_;
};

struct OpDef;

// Reads a node's attributes by name, falling back on the signature's default. A name that the
// signature lacks, or another type than the signature's, is Internal.
class AttributeReader {
 public:
  AttributeReader(const OpDef& op, const Attributes& attributes)
      : op_(op), attributes_(attributes) {}
  const AttributeValue& value(std::string_view name) const;
  const AttributeValue& value(int index) const;
  bool boolean(std::string_view name) const { return std::get<bool>(value(name)); }
  int64_t integer(std::string_view name) const { return std::get<int64_t>(value(name)); }
  double real(std::string_view name) const { return std::get<double>(value(name)); }
  const std::string& string(std::string_view name) const {
    return std::get<std::string>(value(name));
  }
  DType type(std::string_view name) const { return std::get<DType>(value(name)); }
  const PartialShape& shape(std::string_view name) const {
    return std::get<PartialShape>(value(name));
  }
  const std::vector<int64_t>& integers(std::string_view name) const {
    return std::get<std::vector<int64_t>>(value(name));
  }
  const Attributes& attributes() const { return attributes_; }
  const OpDef& op() const { return op_; }

 private:
  const OpDef& op_;
  const Attributes& attributes_;
};

// Builds Attributes by name: named(op, {{"transpose_a", true}}). InvalidArgument for a name the
// signature lacks or a value of the wrong kind or outside the allowed strings.
Attributes named_attributes(const OpDef& op,
                            std::vector<std::pair<std::string_view, AttributeValue>> values);

// Equal values, defaults filled in: two nodes may then be one. Tensors compare by bits.
bool attributes_equal(const OpDef& op, const Attributes& left, const Attributes& right);

}  // namespace graphwright
