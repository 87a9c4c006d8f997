#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <unordered_map>

#include "ir/graph.h"
#include "ir/opdef.h"
#include "ir/text.h"

namespace graphwright {
namespace {

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      result += "\\x";
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    } else {
      result += c;
    }
  }
  return result + '"';
}

template <class T>
std::string number(T value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

template <class Bits>
std::string hex_bits(const void* element) {
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  char buffer[32] = "0x";
  auto [end, error] =
      std::to_chars(buffer + 2, buffer + sizeof buffer, static_cast<uint64_t>(bits), 16);
  return {buffer, end};
}

// The shortest decimal text that reads back to the same value; the bits of a NaN.
template <class T, class Bits>
std::string real(T value) {
  return std::isnan(value) ? hex_bits<Bits>(&value) : number(value);
}

std::string element_text(const Tensor& tensor, int64_t index) {
  const auto* at = static_cast<const char*>(tensor.raw_data()) +
                   static_cast<size_t>(index) * dtype_size(tensor.dtype());
  auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (tensor.dtype()) {
    case DType::kBool:
      return read(false) ? "true" : "false";
    case DType::kFloat:
      return real<float, uint32_t>(read(0.0f));
    case DType::kDouble:
      return real<double, uint64_t>(read(0.0));
    case DType::kComplex64: {
      auto value = read(std::complex<float>());
      return "(" + real<float, uint32_t>(value.real()) + "," + real<float, uint32_t>(value.imag()) +
             ")";
    }
    case DType::kComplex128: {
      auto value = read(std::complex<double>());
      return "(" + real<double, uint64_t>(value.real()) + "," +
             real<double, uint64_t>(value.imag()) + ")";
    }
    case DType::kHalf:
    case DType::kBfloat16:
      return hex_bits<uint16_t>(at);
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
      return hex_bits<uint8_t>(at);
    case DType::kInt8:
      return number(static_cast<int>(read(int8_t{})));
    case DType::kInt16:
      return number(read(int16_t{}));
    case DType::kInt32:
      return number(read(int32_t{}));
    case DType::kInt64:
      return number(read(int64_t{}));
    case DType::kUint8:
      return number(static_cast<int>(read(uint8_t{})));
    case DType::kUint16:
      return number(read(uint16_t{}));
    case DType::kUint32:
      return number(read(uint32_t{}));
    case DType::kUint64:
      return number(read(uint64_t{}));
    case DType::kString:
      return quoted(tensor.data<StringElement>()[index]);
    default:
      return "handle";
  }
}

class Printer {
 public:
  Printer(const Graph& graph, const TextOptions& options) : graph_(graph), options_(options) {}

  std::string print() {
    number_blocks(graph_.body());
    if (options_.version) text_ = "graphwright-ir " + std::to_string(kTextVersion) + "\n";
    text_ +=
        "graph " + quoted(graph_.name()) + " next " + std::to_string(graph_.node_count()) + "\n";
    for (size_t i = 1; i < graph_.scopes().size(); ++i) {
      const NameScope& scope = graph_.scopes()[i];
      auto block = blocks_.find(scope.block);
      text_ += "scope " + quoted(scope.base_name.view()) + " in " + std::to_string(scope.parent) +
               " block " + std::to_string(block == blocks_.end() ? 0 : block->second) + " before " +
               std::to_string(scope.entered_before) + (scope.absolute ? " absolute\n" : "\n");
    }
    text_ += "body";
    print_arguments(graph_.body());
    if (!graph_.captures().empty()) {
      text_ += " captures " + std::to_string(graph_.captures().size());
      if (options_.captures) print_captures();
    }
    print_nodes(graph_.body(), 0);
    text_ += "\n";
    return std::move(text_);
  }

 private:
  void number_blocks(const Block& block) {
    blocks_.emplace(&block, blocks_.size());
    for (const Node* node : block.nodes) {
      for (const auto& inner : node->blocks) number_blocks(*inner);
    }
  }

  std::string symbol(Dim dim) {
    return "s" + std::to_string(symbols_.try_emplace(dim, symbols_.size()).first->second);
  }
  std::string type(const ValueType& type) {
    return type_to_text(type, [this](Dim dim) { return symbol(dim); });
  }
  std::string shape(const PartialShape& shape) {
    return shape_to_text(shape, [this](Dim dim) { return symbol(dim); });
  }
  std::string use(const Value* value) {
    auto found = values_.find(value);
    // Only broken graphs use what is not defined before; they print all the same.
    return found == values_.end() ? "%undefined" : "%" + std::to_string(found->second);
  }
  std::string define(const Value* value) {
    values_.emplace(value, values_.size());
    return use(value) + ": " + type(value->type);
  }
  void indent(int depth) { text_.append(static_cast<size_t>(2 * depth), ' '); }

  void print_arguments(const Block& block) {
    text_ += "(";
    for (const Value* argument : block.arguments) {
      if (argument->index) text_ += ", ";
      text_ += define(argument);
      if (!argument->name.empty()) text_ += " " + quoted(argument->name.view());
      if (argument->scope) text_ += " scope " + std::to_string(argument->scope);
      if (argument->made_before) text_ += " before " + std::to_string(argument->made_before);
    }
    text_ += ")";
  }

  void print_captures() {
    text_ += " {";
    for (size_t i = 0; i < graph_.captures().size(); ++i) {
      const Capture& capture = graph_.captures()[i];
      text_ += (i ? ", " : "") + use(capture.inner) + " = ";
      if (!capture.tensor) {
        text_ += "outer";
      } else if (is_handle(capture.tensor.dtype())) {
        text_ += "handle";
      } else {
        text_ += item(capture.tensor);
      }
    }
    text_ += "}";
  }
  static bool is_handle(DType dtype) {
    return dtype == DType::kResource || dtype == DType::kVariant;
  }

  void print_nodes(const Block& block, int depth) {
    text_ += " {\n";
    for (const Node* node : block.nodes) {
      indent(depth + 1);
      print_node(*node, depth + 1);
      text_ += "\n";
    }
    indent(depth + 1);
    text_ += "return";
    for (size_t i = 0; i < block.results.size(); ++i) {
      text_ += (i ? ", " : " ") + use(block.results[i]);
    }
    text_ += "\n";
    indent(depth);
    text_ += "}";
  }

  void print_node(const Node& node, int depth) {
    std::string inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs += (i ? ", " : "") + use(node.inputs[i]);
    }
    // Blocks print before the outputs are numbered, but after them in the text: numbers are in the
    // order in which a reader meets them.
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      text_ += (i ? ", " : "") + define(node.outputs[i]);
    }
    if (!node.outputs.empty()) text_ += " = ";
    text_ += std::string(node.op->name) + "(" + inputs + ") {";
    const Signature& signature = node.op->signature;
    bool first = true;
    for (int i = 0; i < signature.attribute_count; ++i) {
      if (!node.attributes.has(i)) continue;
      text_ += std::string(first ? "" : ", ") +
               std::string(signature.attributes[static_cast<size_t>(i)].name) + " = " +
               attribute(node.attributes.raw(i));
      first = false;
    }
    text_ += "} " + quoted(node.base_name.view());
    if (node.scope) text_ += " scope " + std::to_string(node.scope);
    text_ += " id " + std::to_string(node.id);
    if (!node.device.empty()) text_ += " device " + quoted(node.device.view());
    for (const Node* control_input : node.control_inputs) {
      text_ += " after " + std::to_string(control_input->id);
    }
    if (node.callee) text_ += " calls " + quoted(node.callee->callee_name());
    for (const auto& block : node.blocks) {
      text_ += " block";
      print_arguments(*block);
      print_nodes(*block, depth);
    }
  }

  std::string item(std::monostate) { return "default"; }
  std::string item(bool value) { return value ? "true" : "false"; }
  std::string item(int64_t value) { return number(value); }
  std::string item(double value) { return real<double, uint64_t>(value); }
  std::string item(const std::string& value) { return quoted(value); }
  std::string item(DType value) { return std::string(dtype_name(value)); }
  std::string item(const PartialShape& value) { return shape(value); }
  std::string item(const Tensor& tensor) {
    std::string text = std::string(dtype_name(tensor.dtype())) + shape(tensor.shape()) + " {";
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      text += (i ? ", " : "") + element_text(tensor, i);
    }
    return text + "}";
  }
  template <class T>
  std::string item(const std::vector<T>& values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + item(values[i]);
    return text + "]";
  }
  std::string attribute(const AttributeValue& value) {
    return std::visit([this](const auto& held) { return item(held); }, value);
  }

  const Graph& graph_;
  const TextOptions options_;
  std::string text_;
  std::unordered_map<const Block*, size_t> blocks_;
  std::unordered_map<const Value*, size_t> values_;
  std::unordered_map<Dim, size_t> symbols_;
};

}  // namespace

std::string graph_to_text(const Graph& graph) { return Printer(graph, {}).print(); }

std::string graph_to_text(const Graph& graph, const TextOptions& options) {
  return Printer(graph, options).print();
}

}  // namespace graphwright
