"""tf.DType and tf.dtypes. What is expected was recorded from TensorFlow 2.21."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from graphwright import dtypes

# name: enumeration, size, NumPy type, (complex, floating, integer, unsigned, numeric)
TABLE = {
    "bfloat16": (14, 2, ml_dtypes.bfloat16, "01001"),
    "bool": (10, 1, np.bool_, "00000"),
    "complex128": (18, 16, np.complex128, "10001"),
    "complex64": (8, 8, np.complex64, "10001"),
    "float16": (19, 2, np.float16, "01001"),
    "float32": (1, 4, np.float32, "01001"),
    "float64": (2, 8, np.float64, "01001"),
    "int16": (5, 2, np.int16, "00101"),
    "int32": (3, 4, np.int32, "00101"),
    "int64": (9, 8, np.int64, "00101"),
    "int8": (6, 1, np.int8, "00101"),
    "string": (7, 0, object, "00000"),
    "uint16": (17, 2, np.uint16, "00111"),
    "uint32": (22, 4, np.uint32, "00111"),
    "uint64": (23, 8, np.uint64, "00111"),
    "uint8": (4, 1, np.uint8, "00111"),
    "float8_e5m2": (24, 1, ml_dtypes.float8_e5m2, "01000"),
    "float8_e4m3fn": (25, 1, ml_dtypes.float8_e4m3fn, "01000"),
}


@pytest.mark.parametrize("name", TABLE)
def test_attributes(name):
    number, size, numpy_type, flags = TABLE[name]
    dtype = dtypes.as_dtype(name)
    assert dtype.name == name
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"<dtype: '{name}'>"
    assert dtype.as_datatype_enum == int(dtype) == hash(dtype) == number
    assert dtype.size == size
    assert dtype.as_numpy_dtype is numpy_type
    assert dtype.base_dtype is dtype
    got = (dtype.is_complex, dtype.is_floating, dtype.is_integer, dtype.is_unsigned)
    assert "".join(str(int(flag)) for flag in (*got, dtype.is_numeric)) == flags
    assert dtype.is_bool == (name == "bool")
    assert dtype.is_numpy_compatible
    for equal in (name, number, numpy_type, np.dtype(numpy_type)):
        if name == "string" and equal is not name:
            continue
        assert dtypes.as_dtype(equal) is dtype
        assert dtype == equal
    for copied in (copy.copy(dtype), copy.deepcopy(dtype), pickle.loads(pickle.dumps(dtype))):
        assert copied is dtype


def test_handles():
    for dtype in (dtypes.resource, dtypes.variant):
        assert not dtype.is_numpy_compatible
        assert dtype.size == 0
        with pytest.raises(KeyError):
            _ = dtype.as_numpy_dtype
        with pytest.raises(TypeError):
            _ = dtype.max


def test_limits():
    assert (dtypes.int8.min, dtypes.int8.max) == (-128, 127)
    assert (dtypes.uint64.min, dtypes.uint64.max) == (0, 2**64 - 1)
    assert (dtypes.int64.min, dtypes.int64.max) == (-(2**63), 2**63 - 1)
    assert dtypes.float32.max == np.finfo(np.float32).max
    assert type(dtypes.float16.min) is np.float16
    assert float(dtypes.bfloat16.max) == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
    assert float(dtypes.experimental.float8_e4m3fn.max) == 448
    assert dtypes.uint8.limits == (0, 255)
    assert dtypes.int16.limits == (0, 32767)
    assert dtypes.float32.limits == (0, 1)
    for dtype in (dtypes.string, dtypes.complex64, dtypes.bool):
        with pytest.raises(TypeError, match="Cannot find minimum value"):
            _ = dtype.min
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = dtypes.complex64.limits


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.dtype("S3"), "string"),
        (np.dtype("U5"), "string"),
        (np.intp, "int64"),
        (np.array(1.0), "float64"),
        (np.dtype(">i4"), "int32"),
    ],
)
def test_what_stands_for_a_dtype(value, name):
    assert dtypes.as_dtype(value).name == name


@pytest.mark.parametrize(
    "value",
    ["str", "int", "object", "nope", "<f4", "f", 99, -1, int, str, bytes, complex, None, [],
     np.longdouble, np.datetime64, np.generic, np.floating, np.dtype([("a", "i4")])],
)  # fmt: skip
def test_what_does_not(value):
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        dtypes.as_dtype(value)


def test_comparison():
    assert dtypes.float32 != "float64"
    assert dtypes.float32 != "nope"
    assert dtypes.float32 != object()
    assert (dtypes.float32 == None) is False  # noqa: E711
    assert dtypes.float32 == float  # noqa: E721
    assert "float32" == dtypes.float32  # noqa: SIM300
    assert dtypes.float32.is_compatible_with("float32")
    assert not dtypes.float32.is_compatible_with(dtypes.float64)
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    with pytest.raises(TypeError):
        _ = dtypes.float32 < dtypes.int32
    assert dtypes.DType(1) is dtypes.float32
    with pytest.raises(TypeError):
        dtypes.DType(1000)
    with pytest.raises(ValueError):
        dtypes.DType("a")
