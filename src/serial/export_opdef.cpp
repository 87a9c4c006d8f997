#include "serial/export_opdef.h"

#include <algorithm>
#include <vector>

#include "ir/attribute.h"
#include "ir/opdef.h"
#include "serial/function_exporter.h"
#include "serial/graphdef.h"
#include "serial/wire.h"

namespace graphwright::serial {
namespace {

// Attributes that the inputs and outputs imply, beside those of the signature.
struct ImpliedAttribute {
  std::string name;
  std::string type;
};

void add_implied(std::vector<ImpliedAttribute>& implied, const OpDef& op, std::string_view name,
                 const char* type) {
  if (op.signature.attribute_index(name) >= 0) return;
  for (const ImpliedAttribute& known : implied) {
    if (known.name == name) return;
  }
  implied.push_back({std::string(name), type});
}

std::string encode_argument(const OpDef& op, const ArgumentSpec& argument,
                            std::vector<ImpliedAttribute>& implied) {
  WireWriter writer;
  writer.write_string(1, argument.name);
  DType dtype = dtype_from_name(argument.type);
  if (argument.arity == Arity::kMixed) {
    writer.write_string(6, argument.type);
    add_implied(implied, op, argument.type, "list(type)");
    return writer.take();
  }
  if (dtype != DType::kInvalid) {
    writer.write_int(3, static_cast<int>(dtype));
  } else {
    writer.write_string(4, argument.type);
    add_implied(implied, op, argument.type, "type");
  }
  if (argument.arity == Arity::kCounted) {
    writer.write_string(5, argument.count);
    add_implied(implied, op, argument.count, "int");
  }
  return writer.take();
}

std::string allowed_types(DTypeSet allowed) {
  ListValue list;
  for (int number = 1; number < kDTypeCount; ++number) {
    auto dtype = static_cast<DType>(number);
    if (allowed.contains(dtype)) list.types.push_back(dtype);
  }
  return encode(AttrValue{list});
}

}  // namespace

std::string encode_op_def(const OpDef& op, std::string_view name) {
  const Signature& signature = op.signature;
  std::vector<ImpliedAttribute> implied;
  WireWriter writer;
  writer.write_string(1, name);
  for (size_t i = 0; i < signature.input_count; ++i) {
    writer.write_bytes(2, encode_argument(op, signature.inputs[i], implied));
  }
  for (size_t i = 0; i < signature.output_count; ++i) {
    writer.write_bytes(3, encode_argument(op, signature.outputs[i], implied));
  }
  for (const ImpliedAttribute& attribute : implied) {
    WireWriter inner;
    inner.write_string(1, attribute.name);
    inner.write_string(2, attribute.type);
    DTypeSet allowed = op.allowed_types(attribute.name);
    if (attribute.type == "type" && allowed != kAnyType) {
      inner.write_bytes(7, allowed_types(allowed));
    }
    if (attribute.type == "int") {
      inner.write_int(5, 1);
      inner.write_int(6, 1);
    }
    writer.write_bytes(4, inner.bytes());
  }
  for (int i = 0; i < signature.attribute_count; ++i) {
    const AttributeSpec& attribute = signature.attributes[static_cast<size_t>(i)];
    WireWriter inner;
    inner.write_string(1, attribute.name);
    inner.write_string(2, attribute_kind_name(attribute.kind));
    if (attribute.has_default) {
      Attributes none;
      const AttributeValue* value = find_attribute(op, none, i);
      if (value) inner.write_bytes(3, encode(attribute_message(*value)));
    }
    writer.write_bytes(4, inner.bytes());
  }
  if (op.has(kCommutative)) writer.write_int(18, 1);
  if (op.has(kStateful)) writer.write_int(17, 1);
  return writer.take();
}

}  // namespace graphwright::serial
