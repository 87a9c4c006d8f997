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
  bool boolean(std::string_view name) const { return get<bool>(name, "bool"); }
  int64_t integer(std::string_view name) const { return get<int64_t>(name, "int"); }
  double real(std::string_view name) const { return get<double>(name, "float"); }
  const std::string& string(std::string_view name) const {
    return get<std::string>(name, "string");
  }
  DType type(std::string_view name) const { return get<DType>(name, "type"); }
  const PartialShape& shape(std::string_view name) const {
    return get<PartialShape>(name, "shape");
  }
  const Tensor& tensor(std::string_view name) const { return get<Tensor>(name, "tensor"); }
  const std::vector<int64_t>& integers(std::string_view name) const {
    return get<std::vector<int64_t>>(name, "list(int)");
  }
  const std::vector<std::string>& strings(std::string_view name) const {
    return get<std::vector<std::string>>(name, "list(string)");
  }
  const std::vector<DType>& types(std::string_view name) const {
    return get<std::vector<DType>>(name, "list(type)");
  }
  const std::vector<PartialShape>& shapes(std::string_view name) const {
    return get<std::vector<PartialShape>>(name, "list(shape)");
  }
  const Attributes& attributes() const { return attributes_; }
  const OpDef& op() const { return op_; }

 private:
  template <class T>
  const T& get(std::string_view name, std::string_view kind) const {
    const T* found = std::get_if<T>(&value(name));
    if (!found) wrong_kind(name, kind);
    return *found;
  }
  [[noreturn]] void wrong_kind(std::string_view name, std::string_view wanted) const;
  const OpDef& op_;
  const Attributes& attributes_;
};

// The value at a position of the signature, the default if it is not set; null if there is none.
// The reference lives as long as `attributes`; defaults live for ever.
const AttributeValue* find_attribute(const OpDef& op, const Attributes& attributes, int index);

// InvalidArgument, naming op and attribute, unless the value is of the signature's kind (an int
// also serves for a float) and one of its allowed strings.
void check_attribute(const OpDef& op, int index, const AttributeValue& value);

bool attribute_values_equal(const AttributeValue& left, const AttributeValue& right);
std::string_view attribute_kind_name(AttributeKind kind);

// Builds Attributes by name: named(op, {{"transpose_a", true}}). InvalidArgument for a name the
// signature lacks or a value of the wrong kind or outside the allowed strings.
Attributes named_attributes(const OpDef& op,
                            std::vector<std::pair<std::string_view, AttributeValue>> values);

// Equal values, defaults filled in: two nodes may then be one. Tensors compare by bits.
bool attributes_equal(const OpDef& op, const Attributes& left, const Attributes& right);

}  // namespace graphwright
