// GraphDef messages as plain structures, and their wire form. Field numbers and names are those of
// TensorFlow's graph.proto, node_def.proto, attr_value.proto, tensor.proto, tensor_shape.proto,
// function.proto and op_def.proto; fields that nothing here uses are skipped when read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace graphwright::serial {

struct AttrValue;
using AttrMap = std::map<std::string, AttrValue>;

// A function's name with its own attributes; ours have none.
struct NameAttrList {
  std::string name;
};

struct ListValue {
  std::vector<std::string> strings;
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<bool> booleans;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  std::vector<Tensor> tensors;
  std::vector<NameAttrList> functions;
};

// monostate: set to nothing. A std::string is the bytes field `s`.
struct AttrValue {
  std::variant<std::monostate, std::string, int64_t, float, bool, DType, PartialShape, Tensor,
               NameAttrList, ListValue>
      value;
};

struct NodeDef {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;  // "node", "node:1", "^control"; in functions "node:output:0"
  std::string device;
  AttrMap attributes;
};

struct ArgDef {
  std::string name;
  DType type = DType::kInvalid;
};

struct FunctionDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  bool is_stateful = false;
  std::vector<std::string> control_outputs;
  AttrMap attributes;
  std::map<uint32_t, AttrMap> argument_attributes;
  std::vector<NodeDef> nodes;
  std::map<std::string, std::string> returns;          // output -> "node:output:0" or an argument
  std::map<std::string, std::string> control_returns;  // control output -> node
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::vector<FunctionDef> functions;
  int32_t producer = 0;
  int32_t min_consumer = 0;
};

std::string encode(const GraphDef& graph);
std::string encode(const NodeDef& node);
std::string encode(const FunctionDef& function);
std::string encode(const AttrValue& value);
// A TensorProto. One element, or strings, in the typed fields; more as tensor_content.
std::string encode(const Tensor& tensor);

// DataLoss for malformed bytes, InvalidArgument for a tensor whose elements do not fit its shape.
// Memory stays proportional to the bytes, except that a tensor may repeat its last element over its
// shape, up to kMaxExpandedBytes.
GraphDef decode_graph(std::string_view bytes);
AttrValue decode_attribute(std::string_view bytes);
Tensor decode_tensor(std::string_view bytes);
inline constexpr int64_t kMaxExpandedBytes = int64_t{1} << 28;

}  // namespace graphwright::serial
