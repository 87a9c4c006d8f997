#include "ir/attribute.h"

#include <atomic>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"

namespace graphwright {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[noreturn]] void bad_default(std::string_view op, const AttributeSpec& spec) {
  throw_internal("op " + std::string(op) + ": cannot read the default '" +
                 std::string(spec.default_text) + "' of attribute " + std::string(spec.name));
}

struct DefaultParser {
  std::string_view op;
  const AttributeSpec& spec;

  int64_t integer(std::string_view text) const {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) bad_default(op, spec);
    return value;
  }
  double real(std::string_view text) const {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) bad_default(op, spec);
    return value;
  }
  std::string string(std::string_view text) const {
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
        text.back() == text.front()) {
      text = text.substr(1, text.size() - 2);
    }
    return std::string(text);
  }
  DType type(std::string_view text) const {
    DType value = dtype_from_name(text);
    if (value == DType::kInvalid) bad_default(op, spec);
    return value;
  }
  // "[2,?]", or "unknown" for an unknown rank.
  PartialShape shape(std::string_view text) const {
    if (text == "unknown") return PartialShape::unknown();
    std::vector<Dim> dims;
    for (std::string_view item : items(text)) {
      dims.push_back(item == "?" ? kUnknownDim : integer(item));
    }
    return PartialShape(std::span<const Dim>(dims));
  }
  // The items of "[a, b]", which may be nested lists themselves.
  std::vector<std::string_view> items(std::string_view text) const {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') bad_default(op, spec);
    text = trimmed(text.substr(1, text.size() - 2));
    std::vector<std::string_view> result;
    if (text.empty()) return result;
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && text[i] == '[') ++depth;
      if (i < text.size() && text[i] == ']') --depth;
      if (i == text.size() || (text[i] == ',' && depth == 0)) {
        result.push_back(trimmed(text.substr(start, i - start)));
        start = i + 1;
      }
    }
    return result;
  }
  template <class T, class Parse>
  std::vector<T> list(Parse parse) const {
    std::vector<T> result;
    for (std::string_view item : items(trimmed(spec.default_text))) result.push_back(parse(item));
    return result;
  }

  AttributeValue parse() const {
    std::string_view text = trimmed(spec.default_text);
    switch (spec.kind) {
      case AttributeKind::kBool:
        if (text != "true" && text != "false") bad_default(op, spec);
        return text == "true";
      case AttributeKind::kInt:
        return integer(text);
      case AttributeKind::kFloat:
        return real(text);
      case AttributeKind::kString:
        return string(text);
      case AttributeKind::kType:
        return type(text);
      case AttributeKind::kShape:
        return shape(text);
      case AttributeKind::kIntList:
        return list<int64_t>([this](std::string_view item) { return integer(item); });
      case AttributeKind::kFloatList:
        return list<double>([this](std::string_view item) { return real(item); });
      case AttributeKind::kStringList:
        return list<std::string>([this](std::string_view item) { return string(item); });
      case AttributeKind::kTypeList:
        return list<DType>([this](std::string_view item) { return type(item); });
      case AttributeKind::kShapeList:
        return list<PartialShape>([this](std::string_view item) { return shape(item); });
      case AttributeKind::kTensor:
      case AttributeKind::kBlock:
        break;
    }
    bad_default(op, spec);
  }
};

// Defaults of one op, monostate where there is none. Made once per op and never freed, so that
// readers may keep references and look them up without a lock.
struct DefaultsEntry {
  const OpDef* op;
  std::array<AttributeValue, kMaxSignatureAttributes> values;
};

constexpr size_t kDefaultsSlots = 4096;  // several times the number of ops
std::atomic<const DefaultsEntry*> defaults_table[kDefaultsSlots];
std::mutex defaults_mutex;

const DefaultsEntry& defaults_of(const OpDef& op) {
  size_t start = (reinterpret_cast<uintptr_t>(&op) / sizeof(OpDef)) * 0x9E3779B97F4A7C15u >> 52;
  for (size_t probe = 0; probe < kDefaultsSlots; ++probe) {
    std::atomic<const DefaultsEntry*>& slot = defaults_table[(start + probe) % kDefaultsSlots];
    const DefaultsEntry* entry = slot.load(std::memory_order_acquire);
    if (!entry) {
      std::lock_guard lock(defaults_mutex);
      entry = slot.load(std::memory_order_acquire);
      if (!entry) {
        auto made = std::make_unique<DefaultsEntry>();
        made->op = &op;
        for (size_t i = 0; i < op.signature.attribute_count; ++i) {
          const AttributeSpec& spec = op.signature.attributes[i];
          if (spec.has_default) made->values[i] = DefaultParser{op.name, spec}.parse();
        }
        entry = made.release();
        slot.store(entry, std::memory_order_release);
      }
    }
    if (entry->op == &op) return *entry;
  }
  throw_internal("the table of attribute defaults is full");
}

// The variant's index that a kind is stored as.
size_t stored_index(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return AttributeValue(true).index();
    case AttributeKind::kInt:
      return AttributeValue(int64_t{0}).index();
    case AttributeKind::kFloat:
      return AttributeValue(0.0).index();
    case AttributeKind::kString:
      return AttributeValue(std::string()).index();
    case AttributeKind::kType:
      return AttributeValue(DType::kFloat).index();
    case AttributeKind::kShape:
      return AttributeValue(PartialShape()).index();
    case AttributeKind::kTensor:
      return AttributeValue(Tensor()).index();
    case AttributeKind::kBlock:
      return 0;
    case AttributeKind::kIntList:
      return AttributeValue(std::vector<int64_t>()).index();
    case AttributeKind::kFloatList:
      return AttributeValue(std::vector<double>()).index();
    case AttributeKind::kStringList:
      return AttributeValue(std::vector<std::string>()).index();
    case AttributeKind::kTypeList:
      return AttributeValue(std::vector<DType>()).index();
    case AttributeKind::kShapeList:
      return AttributeValue(std::vector<PartialShape>()).index();
  }
  return 0;
}

// Whether `text` is one of "'SAME','VALID'".
bool is_allowed_string(std::string_view allowed, std::string_view text) {
  size_t at = 0;
  while ((at = allowed.find('\'', at)) != std::string_view::npos) {
    size_t end = allowed.find('\'', at + 1);
    if (end == std::string_view::npos) return false;
    if (allowed.substr(at + 1, end - at - 1) == text) return true;
    at = end + 1;
  }
  return false;
}

bool same_bits(const Tensor& left, const Tensor& right) {
  if (!left || !right) return !left && !right;
  if (left.is_same(right)) return true;
  if (left.dtype() != right.dtype() || left.shape() != right.shape()) return false;
  if (left.dtype() == DType::kString) {
    return std::equal(left.elements<StringElement>().begin(), left.elements<StringElement>().end(),
                      right.elements<StringElement>().begin());
  }
  if (has_object_elements(left.dtype())) {
    return std::equal(left.elements<ObjectPointer>().begin(), left.elements<ObjectPointer>().end(),
                      right.elements<ObjectPointer>().begin());
  }
  return std::memcmp(left.raw_data(), right.raw_data(), left.byte_size()) == 0;
}

struct ValuesEqual {
  template <class T>
  bool operator()(const T& left, const T& right) const {
    if constexpr (std::is_same_v<T, double>) {
      return std::memcmp(&left, &right, sizeof left) == 0;  // NaN is itself, -0 is not 0
    } else if constexpr (std::is_same_v<T, Tensor>) {
      return same_bits(left, right);
    } else {
      return left == right;
    }
  }
  template <class T, class U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

}  // namespace

std::string_view attribute_kind_name(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return "bool";
    case AttributeKind::kInt:
      return "int";
    case AttributeKind::kFloat:
      return "float";
    case AttributeKind::kString:
      return "string";
    case AttributeKind::kType:
      return "type";
    case AttributeKind::kShape:
      return "shape";
    case AttributeKind::kTensor:
      return "tensor";
    case AttributeKind::kBlock:
      return "block";
    case AttributeKind::kIntList:
      return "list(int)";
    case AttributeKind::kFloatList:
      return "list(float)";
    case AttributeKind::kStringList:
      return "list(string)";
    case AttributeKind::kTypeList:
      return "list(type)";
    case AttributeKind::kShapeList:
      return "list(shape)";
  }
  return "unknown";
}

bool attribute_values_equal(const AttributeValue& left, const AttributeValue& right) {
  return std::visit(ValuesEqual(), left, right);
}

const AttributeValue* find_attribute(const OpDef& op, const Attributes& attributes, int index) {
  if (attributes.has(index)) return &attributes.raw(index);
  if (index >= op.signature.attribute_count) return nullptr;
  const AttributeValue& value = defaults_of(op).values[static_cast<size_t>(index)];
  return std::holds_alternative<std::monostate>(value) ? nullptr : &value;
}

const AttributeValue& AttributeReader::value(int index) const {
  if (const AttributeValue* found = find_attribute(op_, attributes_, index)) return *found;
  std::string name = index >= 0 && index < op_.signature.attribute_count
                         ? std::string(op_.signature.attributes[static_cast<size_t>(index)].name)
                         : "number " + std::to_string(index);
  throw_internal("op " + std::string(op_.name) + ": attribute " + name +
                 " is not set and has no default");
}

const AttributeValue& AttributeReader::value(std::string_view name) const {
  int index = op_.signature.attribute_index(name);
  if (index < 0) {
    throw_internal("op " + std::string(op_.name) + " has no attribute " + std::string(name));
  }
  return value(index);
}

void AttributeReader::wrong_kind(std::string_view name, std::string_view wanted) const {
  throw_internal("op " + std::string(op_.name) + ": attribute " + std::string(name) + " is no " +
                 std::string(wanted));
}

Attributes named_attributes(const OpDef& op,
                            std::vector<std::pair<std::string_view, AttributeValue>> values) {
  Attributes result;
  for (auto& [name, value] : values) {
    int index = op.signature.attribute_index(name);
    if (index < 0) {
      throw Error(Code::kInvalidArgument,
                  std::string(op.name) + " has no attribute named '" + std::string(name) + "'")
          .with_op(op.name)
          .with_argument(name);
    }
    const AttributeSpec& spec = op.signature.attributes[static_cast<size_t>(index)];
    check_attribute(op, index, value);
    // Integers stand for floats, as everywhere in Python.
    if (spec.kind == AttributeKind::kFloat && std::holds_alternative<int64_t>(value)) {
      value = static_cast<double>(std::get<int64_t>(value));
    }
    result.set(index, std::move(value));
  }
  return result;
}

void check_attribute(const OpDef& op, int index, const AttributeValue& value) {
  const AttributeSpec& spec = op.signature.attributes[static_cast<size_t>(index)];
  bool integer_for_real =
      spec.kind == AttributeKind::kFloat && std::holds_alternative<int64_t>(value);
  if (!integer_for_real && value.index() != stored_index(spec.kind)) {
    throw Error(Code::kInvalidArgument, std::string(op.name) + ": attribute '" +
                                            std::string(spec.name) + "' must be of kind " +
                                            std::string(attribute_kind_name(spec.kind)))
        .with_op(op.name)
        .with_argument(spec.name);
  }
  if (!spec.allowed.empty() && !is_allowed_string(spec.allowed, std::get<std::string>(value))) {
    std::string message = "Value for attr '" + std::string(spec.name) + "' of \"" +
                          std::get<std::string>(value) +
                          "\" is not in the list of allowed values: " + std::string(spec.allowed);
    // As for shapes: an error of the op when it runs, of the program's values while it is traced.
    bool building = thread_state.bits & ThreadState::kBuilding;
    Error error = building ? Error(ErrorKind::kValueError, std::move(message))
                           : Error(Code::kInvalidArgument, std::move(message));
    error.with_op(op.name).with_argument(spec.name);
    throw error;
  }
}

bool attributes_equal(const OpDef& op, const Attributes& left, const Attributes& right) {
  for (int i = 0; i < op.signature.attribute_count; ++i) {
    const AttributeValue* a = find_attribute(op, left, i);
    const AttributeValue* b = find_attribute(op, right, i);
    if (a == b) continue;
    if (!a || !b || !attribute_values_equal(*a, *b)) return false;
  }
  return true;
}

}  // namespace graphwright
