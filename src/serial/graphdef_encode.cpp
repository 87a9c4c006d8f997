#include <complex>
#include <cstring>

#include "base/status.h"
#include "serial/graphdef.h"
#include "serial/wire.h"

namespace graphwright::serial {
namespace {

std::string encode_shape(const PartialShape& shape) {
  WireWriter writer;
  if (!shape.has_rank()) {
    writer.write_int(3, 1);
    return writer.take();
  }
  for (Dim dim : shape.dims()) {
    WireWriter inner;
    inner.write_nonzero(1, is_known(dim) ? dim : -1);
    writer.write_bytes(2, inner.bytes());
  }
  return writer.take();
}

std::string encode_function_name(const NameAttrList& function) {
  WireWriter writer;
  writer.write_string(1, function.name);
  return writer.take();
}

template <class T, class Add>
void write_packed(WireWriter& writer, int field, const std::vector<T>& items, Add add) {
  if (items.empty()) return;
  WireWriter packed;
  for (T item : items) add(packed, item);
  writer.write_bytes(field, packed.bytes());
}

std::string encode_list(const ListValue& list) {
  WireWriter writer;
  for (const std::string& item : list.strings) writer.write_bytes(2, item);
  write_packed(writer, 3, list.integers,
               [](WireWriter& out, int64_t item) { out.varint(static_cast<uint64_t>(item)); });
  write_packed(writer, 4, list.floats, [](WireWriter& out, float item) { out.fixed(item); });
  write_packed(writer, 5, list.booleans, [](WireWriter& out, bool item) { out.varint(item); });
  write_packed(writer, 6, list.types,
               [](WireWriter& out, DType item) { out.varint(static_cast<uint64_t>(item)); });
  for (const PartialShape& item : list.shapes) writer.write_bytes(7, encode_shape(item));
  for (const Tensor& item : list.tensors) writer.write_bytes(8, encode(item));
  for (const NameAttrList& item : list.functions) {
    writer.write_bytes(9, encode_function_name(item));
  }
  return writer.take();
}

void write_attributes(WireWriter& writer, int field, const AttrMap& attributes) {
  for (const auto& [name, value] : attributes) {
    WireWriter entry;
    entry.write_bytes(1, name);
    entry.write_bytes(2, encode(value));
    writer.write_bytes(field, entry.bytes());
  }
}

void write_strings(WireWriter& writer, int field, const std::map<std::string, std::string>& map) {
  for (const auto& [key, value] : map) {
    WireWriter entry;
    entry.write_bytes(1, key);
    entry.write_bytes(2, value);
    writer.write_bytes(field, entry.bytes());
  }
}

template <class T>
T element(const Tensor& tensor, int64_t index) {
  return tensor.data<T>()[index];
}

// The typed field of a tensor with one element. Fields of repeated numbers are packed.
void write_element(WireWriter& writer, const Tensor& tensor) {
  WireWriter packed;
  auto integer = [&](int field, int64_t value) {
    packed.varint(static_cast<uint64_t>(value));
    writer.write_bytes(field, packed.bytes());
  };
  switch (tensor.dtype()) {
    case DType::kFloat:
      packed.fixed(element<float>(tensor, 0));
      writer.write_bytes(5, packed.bytes());
      break;
    case DType::kDouble:
      packed.fixed(element<double>(tensor, 0));
      writer.write_bytes(6, packed.bytes());
      break;
    case DType::kInt32:
      return integer(7, element<int32_t>(tensor, 0));
    case DType::kInt16:
      return integer(7, element<int16_t>(tensor, 0));
    case DType::kInt8:
      return integer(7, element<int8_t>(tensor, 0));
    case DType::kUint16:
      return integer(7, element<uint16_t>(tensor, 0));
    case DType::kUint8:
      return integer(7, element<uint8_t>(tensor, 0));
    case DType::kInt64:
      return integer(10, element<int64_t>(tensor, 0));
    case DType::kBool:
      return integer(11, element<bool>(tensor, 0));
    case DType::kHalf:
    case DType::kBfloat16:
      return integer(13, element<uint16_t>(tensor, 0));
    case DType::kUint32:
      return integer(16, element<uint32_t>(tensor, 0));
    case DType::kUint64:
      return integer(17, static_cast<int64_t>(element<uint64_t>(tensor, 0)));
    case DType::kComplex64: {
      auto value = element<std::complex<float>>(tensor, 0);
      packed.fixed(value.real());
      packed.fixed(value.imag());
      writer.write_bytes(9, packed.bytes());
      break;
    }
    case DType::kComplex128: {
      auto value = element<std::complex<double>>(tensor, 0);
      packed.fixed(value.real());
      packed.fixed(value.imag());
      writer.write_bytes(12, packed.bytes());
      break;
    }
    default:
      writer.write_bytes(4, {static_cast<const char*>(tensor.raw_data()), tensor.byte_size()});
  }
}

std::string encode_argument(const ArgDef& argument) {
  WireWriter writer;
  writer.write_string(1, argument.name);
  writer.write_nonzero(3, static_cast<int>(argument.type));
  return writer.take();
}

std::string encode_signature(const FunctionDef& function) {
  WireWriter writer;
  writer.write_string(1, function.name);
  for (const ArgDef& input : function.inputs) writer.write_bytes(2, encode_argument(input));
  for (const ArgDef& output : function.outputs) writer.write_bytes(3, encode_argument(output));
  if (function.is_stateful) writer.write_int(17, 1);
  for (const std::string& output : function.control_outputs) writer.write_bytes(20, output);
  return writer.take();
}

}  // namespace

std::string encode(const Tensor& tensor) {
  if (tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant) {
    throw_invalid_argument("a constant of dtype " + std::string(dtype_name(tensor.dtype())) +
                           " refers to an object of this process and cannot be written");
  }
  WireWriter writer;
  writer.write_int(1, static_cast<int>(tensor.dtype()));
  writer.write_bytes(2, encode_shape(tensor.shape()));
  if (tensor.dtype() == DType::kString) {
    for (const StringElement& item : tensor.elements<StringElement>()) writer.write_bytes(8, item);
  } else if (tensor.element_count() == 1) {
    write_element(writer, tensor);
  } else if (tensor.element_count() > 1) {
    writer.write_bytes(4, {static_cast<const char*>(tensor.raw_data()), tensor.byte_size()});
  }
  return writer.take();
}

std::string encode(const AttrValue& attribute) {
  WireWriter writer;
  struct Visitor {
    WireWriter& writer;
    void operator()(std::monostate) const {}
    void operator()(const std::string& value) const { writer.write_bytes(2, value); }
    void operator()(int64_t value) const { writer.write_int(3, value); }
    void operator()(float value) const { writer.write_float(4, value); }
    void operator()(bool value) const { writer.write_int(5, value); }
    void operator()(DType value) const { writer.write_int(6, static_cast<int>(value)); }
    void operator()(const PartialShape& value) const { writer.write_bytes(7, encode_shape(value)); }
    void operator()(const Tensor& value) const { writer.write_bytes(8, encode(value)); }
    void operator()(const NameAttrList& value) const {
      writer.write_bytes(10, encode_function_name(value));
    }
    void operator()(const ListValue& value) const { writer.write_bytes(1, encode_list(value)); }
  };
  std::visit(Visitor{writer}, attribute.value);
  return writer.take();
}

std::string encode(const NodeDef& node) {
  WireWriter writer;
  writer.write_string(1, node.name);
  writer.write_string(2, node.op);
  for (const std::string& input : node.inputs) writer.write_bytes(3, input);
  writer.write_string(4, node.device);
  write_attributes(writer, 5, node.attributes);
  return writer.take();
}

std::string encode(const FunctionDef& function) {
  WireWriter writer;
  writer.write_bytes(1, encode_signature(function));
  for (const NodeDef& node : function.nodes) writer.write_bytes(3, encode(node));
  write_strings(writer, 4, function.returns);
  write_attributes(writer, 5, function.attributes);
  write_strings(writer, 6, function.control_returns);
  for (const auto& [index, attributes] : function.argument_attributes) {
    WireWriter inner;
    write_attributes(inner, 1, attributes);
    WireWriter entry;
    entry.write_int(1, index);
    entry.write_bytes(2, inner.bytes());
    writer.write_bytes(7, entry.bytes());
  }
  return writer.take();
}

std::string encode(const GraphDef& graph) {
  WireWriter writer;
  for (const NodeDef& node : graph.nodes) writer.write_bytes(1, encode(node));
  WireWriter library;
  for (const FunctionDef& function : graph.functions) library.write_bytes(1, encode(function));
  writer.write_bytes(2, library.bytes());
  WireWriter versions;
  versions.write_nonzero(1, graph.producer);
  versions.write_nonzero(2, graph.min_consumer);
  writer.write_bytes(4, versions.bytes());
  return writer.take();
}

}  // namespace graphwright::serial
