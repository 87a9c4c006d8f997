"""The element types of tensors: ``tf.dtypes``."""

from __future__ import annotations

from graphwright._core import DType, as_dtype, dtypes_by_name

bool = dtypes_by_name["bool"]
int8 = dtypes_by_name["int8"]
int16 = dtypes_by_name["int16"]
int32 = dtypes_by_name["int32"]
int64 = dtypes_by_name["int64"]
uint8 = dtypes_by_name["uint8"]
uint16 = dtypes_by_name["uint16"]
uint32 = dtypes_by_name["uint32"]
uint64 = dtypes_by_name["uint64"]
float16 = half = dtypes_by_name["float16"]
bfloat16 = dtypes_by_name["bfloat16"]
float32 = dtypes_by_name["float32"]
float64 = double = dtypes_by_name["float64"]
complex64 = dtypes_by_name["complex64"]
complex128 = dtypes_by_name["complex128"]
string = dtypes_by_name["string"]
resource = dtypes_by_name["resource"]
variant = dtypes_by_name["variant"]

from graphwright.dtypes import experimental  # noqa: E402

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "double",
    "experimental",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "resource",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]
