"""GraphDef and its parts as protobuf messages, from descriptors of our own.

They live in a private descriptor pool: in the default one they would clash with those of another
library in the same process. Protobuf's run time is loaded on first use, so that importing the
package does not pay for it.
"""

from __future__ import annotations

import functools
import re
from typing import Any

# message, then its fields: number, type (scalar, message, enum, map<key,value>), name. `*` means
# repeated and `|` a member of the oneof `value`.
_MESSAGES = """
GraphDef
  1 *NodeDef node
  4 VersionDef versions
  3 int32 version
  2 FunctionDefLibrary library
NodeDef
  1 string name
  2 string op
  3 *string input
  4 string device
  5 map<string,AttrValue> attr
  6 NodeDef.ExperimentalDebugInfo experimental_debug_info
NodeDef.ExperimentalDebugInfo
  1 *string original_node_names
  2 *string original_func_names
VersionDef
  1 int32 producer
  2 int32 min_consumer
  3 *int32 bad_consumers
AttrValue
  2 |bytes s
  3 |int64 i
  4 |float f
  5 |bool b
  6 |DataType type
  7 |TensorShapeProto shape
  8 |TensorProto tensor
  1 |AttrValue.ListValue list
  10 |NameAttrList func
  9 |string placeholder
AttrValue.ListValue
  2 *bytes s
  3 *int64 i
  4 *float f
  5 *bool b
  6 *DataType type
  7 *TensorShapeProto shape
  8 *TensorProto tensor
  9 *NameAttrList func
NameAttrList
  1 string name
  2 map<string,AttrValue> attr
TensorShapeProto
  2 *TensorShapeProto.Dim dim
  3 bool unknown_rank
TensorShapeProto.Dim
  1 int64 size
  2 string name
TensorProto
  1 DataType dtype
  2 TensorShapeProto tensor_shape
  3 int32 version_number
  4 bytes tensor_content
  13 *int32 half_val
  5 *float float_val
  6 *double double_val
  7 *int32 int_val
  8 *bytes string_val
  9 *float scomplex_val
  10 *int64 int64_val
  11 *bool bool_val
  12 *double dcomplex_val
  14 *ResourceHandleProto resource_handle_val
  15 *VariantTensorDataProto variant_val
  16 *uint32 uint32_val
  17 *uint64 uint64_val
  18 bytes float8_val
ResourceHandleProto
  1 string device
  2 string container
  3 string name
  4 uint64 hash_code
  5 string maybe_type_name
  6 *ResourceHandleProto.DtypeAndShape dtypes_and_shapes
ResourceHandleProto.DtypeAndShape
  1 DataType dtype
  2 TensorShapeProto shape
VariantTensorDataProto
  1 string type_name
  2 bytes metadata
  3 *TensorProto tensors
FunctionDefLibrary
  1 *FunctionDef function
  2 *GradientDef gradient
  3 *RegisteredGradient registered_gradients
GradientDef
  1 string function_name
  2 string gradient_func
RegisteredGradient
  1 string gradient_func
  2 string registered_op_type
FunctionDef
  1 OpDef signature
  5 map<string,AttrValue> attr
  7 map<uint32,FunctionDef.ArgAttrs> arg_attr
  8 map<uint32,uint32> resource_arg_unique_id
  3 *NodeDef node_def
  4 map<string,string> ret
  6 map<string,string> control_ret
FunctionDef.ArgAttrs
  1 map<string,AttrValue> attr
OpDef
  1 string name
  2 *OpDef.ArgDef input_arg
  3 *OpDef.ArgDef output_arg
  20 *string control_output
  4 *OpDef.AttrDef attr
  8 OpDeprecation deprecation
  5 string summary
  6 string description
  18 bool is_commutative
  16 bool is_aggregate
  17 bool is_stateful
  19 bool allows_uninitialized_input
  21 bool is_distributed_communication
OpDef.ArgDef
  1 string name
  2 string description
  3 DataType type
  4 string type_attr
  5 string number_attr
  6 string type_list_attr
  7 *ResourceHandleProto.DtypeAndShape handle_data
  16 bool is_ref
OpDef.AttrDef
  1 string name
  2 string type
  3 AttrValue default_value
  4 string description
  5 bool has_minimum
  6 int64 minimum
  7 AttrValue allowed_values
TensorSpecProto
  1 string name
  2 TensorShapeProto shape
  3 DataType dtype
OpDeprecation
  1 int32 version
  2 string explanation
"""

_DATA_TYPES = """
INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32
BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 FLOAT8_E5M2
FLOAT8_E4M3FN
"""

_PACKAGE = "tensorflow"
_FIELD = re.compile(r"\s+(\d+) ([*|]?)(\S+) (\w+)")


def _set_type(field: Any, type_name: str) -> None:
    """Sets a FieldDescriptorProto's type from a scalar, enum or message name."""
    scalar = getattr(field, "TYPE_" + type_name.upper(), None) if type_name.islower() else None
    if scalar is not None:
        field.type = scalar
        return
    field.type = field.TYPE_ENUM if type_name == "DataType" else field.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{type_name}"


def _add_field(message: Any, full_name: str, line: str) -> None:
    match = _FIELD.fullmatch(line)
    if match is None:
        raise AssertionError(f"malformed field: {line!r}")
    number, mark, type_name, name = match.groups()
    field = message.field.add(name=name, number=int(number), label=1)
    if type_name.startswith("map<"):
        key, value = type_name[4:-1].split(",")
        entry_name = "".join(part.capitalize() for part in name.split("_")) + "Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        for position, (entry_field, entry_type) in enumerate((("key", key), ("value", value)), 1):
            added = entry.field.add(name=entry_field, number=position, label=1)
            _set_type(added, entry_type)
        field.label = field.LABEL_REPEATED
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{full_name}.{entry_name}"
        return
    _set_type(field, type_name)
    if mark == "*":
        field.label = field.LABEL_REPEATED
    elif mark == "|":
        if not message.oneof_decl:
            message.oneof_decl.add(name="value")
        field.oneof_index = 0


@functools.cache
def _pool() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    file = descriptor_pb2.FileDescriptorProto(
        name="graphwright/graphdef.proto", package=_PACKAGE, syntax="proto3"
    )
    data_type = file.enum_type.add(name="DataType")
    for number, name in enumerate(_DATA_TYPES.split()):
        data_type.value.add(name="DT_" + name, number=number)
    messages: dict[str, Any] = {}
    full_name = ""
    for line in _MESSAGES.strip().splitlines():
        if line.startswith(" "):
            _add_field(messages[full_name], full_name, line)
            continue
        full_name = line
        parent, _, name = full_name.rpartition(".")
        owner = messages[parent].nested_type if parent else file.message_type
        messages[full_name] = owner.add(name=name)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


@functools.cache
def message_class(name: str) -> Any:
    """The class of a message, by its name without package: ``message_class("GraphDef")``."""
    from google.protobuf import message_factory

    descriptor = _pool().FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(descriptor)


def shape_message(shape: Any) -> Any:
    """The TensorShapeProto of a TensorShape; unknown dims are -1."""
    message = message_class("TensorShapeProto")()
    if shape.rank is None:
        message.unknown_rank = True
        return message
    for size in shape.as_list():
        message.dim.add().size = -1 if size is None else size
    return message


def graph_def(serialized: bytes) -> Any:
    """The GraphDef message of serialized bytes."""
    return message_class("GraphDef").FromString(serialized)
