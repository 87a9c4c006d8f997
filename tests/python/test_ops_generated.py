"""Every op row that names a NumPy expression, against that expression.

For each dtype the row allows: values on scalars, vectors, matrices, empty and broadcast operands.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import graphwright as tf
from graphwright import _core

ROWS = {row["name"]: row for row in _core.op_rows() if row["reference"] is not None}
SHAPES = ((), (5,), (0,), (2, 3), (1, 0, 2), (33, 7))
BROADCASTS = (((2, 1), (3,)), ((), (4,)), ((5, 1, 2), (3, 1)), ((0, 1), (1, 3)), ((3,), (2, 3)))
# Relative to the larger of 1 and the magnitude: a few roundings of the dtype.
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 4e-2,
    "float32": 3e-6,
    "float64": 1e-13,
    "complex64": 1e-5,
    "complex128": 1e-12,
    "float8_e5m2": 0.5,
    "float8_e4m3fn": 0.25,
}
# What NumPy computes half-width dtypes in, so that it rounds once at the end as we do.
WIDER = {"float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"}


def numpy_dtype(name):
    return tf.as_dtype(name).as_numpy_dtype


def dtypes_of(row):
    """The dtypes that the row's first type variable takes, or that its only input has."""
    kinds = [spec["type"] for spec in row["inputs"]]
    variables = [kind for kind in kinds if kind[:1].isupper()]
    if not variables:
        return [kinds[0]]
    allowed = row["types"].get(variables[0])
    every = ["float32", "float64", "int32", "int64", "bool", "string", "complex64", "float16"]
    return [name for name in allowed or every if name not in ("resource", "variant")]


def sample(row, position, dtype, shape, seed):
    low, high = row["domain"]
    if position == 1 and row["second_domain"]:
        low, high = row["second_domain"]
    random = np.random.default_rng(zlib.crc32(f"{row['name']}{position}{seed}".encode()))
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype == "string":
        return random.choice(np.array(["", "a", "bc"], dtype=object), size=shape)
    kind = np.dtype(numpy_dtype(dtype))
    if kind.kind in "iu":
        least = 0 if kind.kind == "u" else np.floor(low)
        least = max(least, np.ceil(low)) if low > 0 else least
        return random.integers(int(least), int(np.floor(high)) + 1, size=shape).astype(kind)
    values = random.uniform(low, high, size=shape)
    if kind.kind == "c":
        return (values + 0.5j * random.uniform(-1, 1, size=shape)).astype(kind)
    return values.astype(kind)


def inputs_of(row, dtype, shapes, seed=0):
    inputs = {}
    for position, spec in enumerate(row["inputs"]):
        own = dtype if spec["type"][:1].isupper() else spec["type"]
        shape = shapes[position % len(shapes)]
        inputs[spec["name"]] = np.asarray(sample(row, position, own, shape, seed))
    return inputs


def reference(row, inputs):
    wide = {
        name: value.astype(np.float32) if value.dtype.name in WIDER else value
        for name, value in inputs.items()
    }
    with np.errstate(all="ignore"):
        return np.asarray(eval(row["reference"], {"np": np, "tf": tf}, wide))


def apply(row, inputs):
    return getattr(tf.raw_ops, row["name"])(**inputs)


def tensors(inputs):
    return {name: tf.constant(value) for name, value in inputs.items()}


def check_equal(row, got, wanted):
    result = got.numpy()
    result = np.asarray(result)
    assert result.shape == wanted.shape
    if got.dtype.name == "string":
        wanted = np.vectorize(lambda text: (text or "").encode(), otypes=[object])(wanted)
        np.testing.assert_array_equal(result, wanted)
        return
    tolerance = TOLERANCE.get(got.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(result, wanted.astype(result.dtype))
        return
    result = result.astype(np.complex128 if result.dtype.kind == "c" else np.float64)
    scale = np.maximum(1, np.abs(wanted))
    np.testing.assert_allclose(result / scale, wanted / scale, rtol=0, atol=tolerance)


CASES = [(name, dtype) for name, row in ROWS.items() for dtype in dtypes_of(row)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_values(name, dtype):
    row = ROWS[name]
    for shape in SHAPES:
        inputs = inputs_of(row, dtype, (shape,))
        check_equal(row, apply(row, tensors(inputs)), reference(row, inputs))
    if len(row["inputs"]) == 2 and "elementwise" in row["traits"]:
        for shapes in BROADCASTS:
            for order in (shapes, shapes[::-1]):
                inputs = inputs_of(row, dtype, order)
                check_equal(row, apply(row, tensors(inputs)), reference(row, inputs))
        bad = tensors(inputs_of(row, dtype, ((2,), (3,))))
        with pytest.raises(tf.errors.InvalidArgumentError):
            apply(row, bad)


def test_every_row_is_tested_here_or_says_where():
    for row in _core.op_rows():
        assert row["reference"] or row["no_reference_because"], row["name"]
    assert len(ROWS) > 40
