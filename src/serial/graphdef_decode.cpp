#include <algorithm>
#include <complex>
#include <cstring>

#include "base/status.h"
#include "serial/graphdef.h"
#include "serial/wire.h"

namespace graphwright::serial {
namespace {

// Calls read(field, type) for every field; it returns false for those it does not know.
template <class Read>
void for_each_field(WireReader& reader, Read read) {
  while (!reader.done()) {
    int field = 0;
    WireType type{};
    reader.next(&field, &type);
    if (!read(field, type)) reader.skip(type);
  }
}

// Numbers of a repeated field, packed or not.
template <class Add>
void read_numbers(WireReader& reader, WireType type, WireType element, Add add) {
  if (type != WireType::kBytes) {
    WireReader::expect(type, element);
    add(reader);
    return;
  }
  WireReader packed(reader.bytes());
  while (!packed.done()) add(packed);
}

std::string_view message(WireReader& reader, WireType type) {
  WireReader::expect(type, WireType::kBytes);
  return reader.bytes();
}
int64_t integer(WireReader& reader, WireType type) {
  WireReader::expect(type, WireType::kVarint);
  return reader.integer();
}

DType dtype_of_number(int64_t number) {
  if (number < 0 || number >= kDTypeCount ||
      dtype_name(static_cast<DType>(number)) == dtype_name(DType::kInvalid)) {
    return DType::kInvalid;
  }
  return static_cast<DType>(number);
}

PartialShape decode_shape(std::string_view bytes) {
  WireReader reader(bytes);
  std::vector<Dim> dims;
  bool unknown_rank = false;
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 2) {
      WireReader dim(message(reader, type));
      int64_t size = 0;
      for_each_field(dim, [&](int inner, WireType inner_type) {
        if (inner != 1) return false;
        size = integer(dim, inner_type);
        return true;
      });
      if (size < -1) WireReader::malformed("a dimension is negative");
      if (dims.size() == kMaxRank) WireReader::malformed("a shape has too many dimensions");
      dims.push_back(size);
    } else if (field == 3) {
      unknown_rank = integer(reader, type) != 0;
    } else {
      return false;
    }
    return true;
  });
  return unknown_rank ? PartialShape::unknown() : PartialShape(std::span<const Dim>(dims));
}

NameAttrList decode_function_name(std::string_view bytes) {
  WireReader reader(bytes);
  NameAttrList result;
  for_each_field(reader, [&](int field, WireType type) {
    if (field != 1) return false;
    result.name = std::string(message(reader, type));
    return true;
  });
  return result;
}

ListValue decode_list(std::string_view bytes) {
  WireReader reader(bytes);
  ListValue list;
  for_each_field(reader, [&](int field, WireType type) {
    switch (field) {
      case 2:
        list.strings.emplace_back(message(reader, type));
        return true;
      case 3:
        read_numbers(reader, type, WireType::kVarint,
                     [&](WireReader& from) { list.integers.push_back(from.integer()); });
        return true;
      case 4:
        read_numbers(reader, type, WireType::kFixed32,
                     [&](WireReader& from) { list.floats.push_back(from.fixed<float>()); });
        return true;
      case 5:
        read_numbers(reader, type, WireType::kVarint,
                     [&](WireReader& from) { list.booleans.push_back(from.varint() != 0); });
        return true;
      case 6:
        read_numbers(reader, type, WireType::kVarint, [&](WireReader& from) {
          list.types.push_back(dtype_of_number(from.integer()));
        });
        return true;
      case 7:
        list.shapes.push_back(decode_shape(message(reader, type)));
        return true;
      case 8:
        list.tensors.push_back(decode_tensor(message(reader, type)));
        return true;
      case 9:
        list.functions.push_back(decode_function_name(message(reader, type)));
        return true;
      default:
        return false;
    }
  });
  return list;
}

// Reads a map entry's value with `read(value bytes)` under its key.
template <class Read>
void map_entry(std::string_view bytes, Read read) {
  WireReader reader(bytes);
  std::string key;
  std::string_view value;
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 1) key = std::string(message(reader, type));
    if (field == 2) value = message(reader, type);
    return field == 1 || field == 2;
  });
  read(std::move(key), value);
}

void read_attribute(AttrMap& attributes, std::string_view entry) {
  map_entry(entry, [&](std::string key, std::string_view value) {
    attributes[std::move(key)] = decode_attribute(value);
  });
}

NodeDef decode_node(std::string_view bytes) {
  WireReader reader(bytes);
  NodeDef node;
  for_each_field(reader, [&](int field, WireType type) {
    switch (field) {
      case 1:
        node.name = std::string(message(reader, type));
        return true;
      case 2:
        node.op = std::string(message(reader, type));
        return true;
      case 3:
        node.inputs.emplace_back(message(reader, type));
        return true;
      case 4:
        node.device = std::string(message(reader, type));
        return true;
      case 5:
        read_attribute(node.attributes, message(reader, type));
        return true;
      default:
        return false;
    }
  });
  return node;
}

ArgDef decode_argument(std::string_view bytes) {
  WireReader reader(bytes);
  ArgDef argument;
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 1) {
      argument.name = std::string(message(reader, type));
    } else if (field == 3) {
      argument.type = dtype_of_number(integer(reader, type));
    } else {
      return false;
    }
    return true;
  });
  return argument;
}

void read_signature(FunctionDef& function, std::string_view bytes) {
  WireReader reader(bytes);
  for_each_field(reader, [&](int field, WireType type) {
    switch (field) {
      case 1:
        function.name = std::string(message(reader, type));
        return true;
      case 2:
        function.inputs.push_back(decode_argument(message(reader, type)));
        return true;
      case 3:
        function.outputs.push_back(decode_argument(message(reader, type)));
        return true;
      case 17:
        function.is_stateful = integer(reader, type) != 0;
        return true;
      case 20:
        function.control_outputs.emplace_back(message(reader, type));
        return true;
      default:
        return false;
    }
  });
}

void read_argument_attributes(FunctionDef& function, std::string_view bytes) {
  WireReader reader(bytes);
  int64_t index = 0;
  AttrMap attributes;
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 1) {
      index = integer(reader, type);
    } else if (field == 2) {
      WireReader inner(message(reader, type));
      for_each_field(inner, [&](int inner_field, WireType inner_type) {
        if (inner_field != 1) return false;
        read_attribute(attributes, message(inner, inner_type));
        return true;
      });
    } else {
      return false;
    }
    return true;
  });
  function.argument_attributes[static_cast<uint32_t>(index)] = std::move(attributes);
}

FunctionDef decode_function(std::string_view bytes) {
  WireReader reader(bytes);
  FunctionDef function;
  auto into = [](std::map<std::string, std::string>& map) {
    return [&map](std::string key, std::string_view value) {
      map[std::move(key)] = std::string(value);
    };
  };
  for_each_field(reader, [&](int field, WireType type) {
    switch (field) {
      case 1:
        read_signature(function, message(reader, type));
        return true;
      case 3:
        function.nodes.push_back(decode_node(message(reader, type)));
        return true;
      case 4:
        map_entry(message(reader, type), into(function.returns));
        return true;
      case 5:
        read_attribute(function.attributes, message(reader, type));
        return true;
      case 6:
        map_entry(message(reader, type), into(function.control_returns));
        return true;
      case 7:
        read_argument_attributes(function, message(reader, type));
        return true;
      default:
        return false;
    }
  });
  return function;
}

// A TensorProto's element fields, as raw elements of its dtype in the order they came.
struct Elements {
  std::string raw;
  std::vector<std::string> strings;

  template <class T>
  void add(T value) {
    raw.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add_integer(DType type, uint64_t value) {
    switch (dtype_size(type)) {
      case 1:
        return add(static_cast<uint8_t>(value));
      case 2:
        return add(static_cast<uint16_t>(value));
      case 4:
        return add(static_cast<uint32_t>(value));
      default:
        return add(value);
    }
  }
};

bool is_integer_field(int field) {
  return field == 7 || field == 10 || field == 11 || field == 13 || field == 16 || field == 17;
}

}  // namespace

Tensor decode_tensor(std::string_view bytes) {
  // The dtype may come after the elements on the wire, so it is read first.
  DType dtype = DType::kInvalid;
  PartialShape shape = PartialShape::scalar();
  WireReader header(bytes);
  for_each_field(header, [&](int field, WireType type) {
    if (field == 1) {
      dtype = dtype_of_number(integer(header, type));
    } else if (field == 2) {
      shape = decode_shape(message(header, type));
    } else {
      return false;
    }
    return true;
  });
  if (dtype == DType::kInvalid || dtype == DType::kResource || dtype == DType::kVariant) {
    throw_invalid_argument("a TensorProto has a dtype that cannot be read");
  }
  if (!shape.is_fully_defined()) throw_invalid_argument("a TensorProto's shape is not known");
  Elements elements;
  WireReader reader(bytes);
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 4) {
      elements.raw = std::string(message(reader, type));
    } else if (field == 8) {
      elements.strings.emplace_back(message(reader, type));
    } else if (field == 5 || field == 9) {
      read_numbers(reader, type, WireType::kFixed32,
                   [&](WireReader& from) { elements.add(from.fixed<float>()); });
    } else if (field == 6 || field == 12) {
      read_numbers(reader, type, WireType::kFixed64,
                   [&](WireReader& from) { elements.add(from.fixed<double>()); });
    } else if (is_integer_field(field)) {
      read_numbers(reader, type, WireType::kVarint,
                   [&](WireReader& from) { elements.add_integer(dtype, from.varint()); });
    } else {
      return false;
    }
    return true;
  });
  int64_t count = checked_element_count(shape.dims());
  bool strings = dtype == DType::kString;
  size_t element_size = strings ? 1 : dtype_size(dtype);
  size_t given = strings ? elements.strings.size() : elements.raw.size() / element_size;
  if ((!strings && elements.raw.size() % element_size != 0) || given > static_cast<size_t>(count)) {
    throw_invalid_argument("a TensorProto has more elements than its shape " + shape.to_string());
  }
  if (given < static_cast<size_t>(count) &&
      count > kMaxExpandedBytes /
                  static_cast<int64_t>(strings ? sizeof(StringElement) : element_size)) {
    throw_invalid_argument("a TensorProto's shape " + shape.to_string() +
                           " is much larger than its elements");
  }
  if (strings) {
    Tensor result = Tensor::empty(dtype, shape.dims());
    for (size_t i = 0; i < static_cast<size_t>(count) && given; ++i) {
      result.mutable_data<StringElement>()[i] = elements.strings[std::min(i, given - 1)];
    }
    return result;
  }
  Tensor result = Tensor::zeros(dtype, shape.dims());
  auto* data = static_cast<char*>(result.mutable_raw_data());
  std::memcpy(data, elements.raw.data(), given * element_size);
  for (size_t i = given; i < static_cast<size_t>(count) && given; ++i) {
    std::memcpy(data + i * element_size, data + (given - 1) * element_size, element_size);
  }
  if (dtype == DType::kBool) {
    for (int64_t i = 0; i < count; ++i) data[i] = data[i] != 0;  // another byte is no bool
  }
  return result;
}

AttrValue decode_attribute(std::string_view bytes) {
  WireReader reader(bytes);
  AttrValue attribute;
  for_each_field(reader, [&](int field, WireType type) {
    switch (field) {
      case 1:
        attribute.value = decode_list(message(reader, type));
        return true;
      case 2:
        attribute.value = std::string(message(reader, type));
        return true;
      case 3:
        attribute.value = integer(reader, type);
        return true;
      case 4:
        WireReader::expect(type, WireType::kFixed32);
        attribute.value = reader.fixed<float>();
        return true;
      case 5:
        attribute.value = integer(reader, type) != 0;
        return true;
      case 6:
        attribute.value = dtype_of_number(integer(reader, type));
        return true;
      case 7:
        attribute.value = decode_shape(message(reader, type));
        return true;
      case 8:
        attribute.value = decode_tensor(message(reader, type));
        return true;
      case 10:
        attribute.value = decode_function_name(message(reader, type));
        return true;
      default:
        return false;
    }
  });
  return attribute;
}

GraphDef decode_graph(std::string_view bytes) {
  WireReader reader(bytes);
  GraphDef graph;
  for_each_field(reader, [&](int field, WireType type) {
    if (field == 1) {
      graph.nodes.push_back(decode_node(message(reader, type)));
    } else if (field == 2) {
      WireReader library(message(reader, type));
      for_each_field(library, [&](int inner, WireType inner_type) {
        if (inner != 1) return false;
        graph.functions.push_back(decode_function(message(library, inner_type)));
        return true;
      });
    } else if (field == 4) {
      WireReader versions(message(reader, type));
      for_each_field(versions, [&](int inner, WireType inner_type) {
        if (inner != 1 && inner != 2) return false;
        auto value = static_cast<int32_t>(integer(versions, inner_type));
        (inner == 1 ? graph.producer : graph.min_consumer) = value;
        return true;
      });
    } else {
      return false;
    }
    return true;
  });
  return graph;
}

}  // namespace graphwright::serial
