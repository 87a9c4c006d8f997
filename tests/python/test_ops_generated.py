"""Every op row that names a NumPy expression, against that expression.

For each dtype the row allows: values on scalars, vectors, matrices, empty and broadcast operands;
the shape that tracing infers with known and unknown dims; gradients and forward-mode tangents
against differences.
"""

from __future__ import annotations

import itertools
import pathlib
import re
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


def recording(row, traced):
    def function(values):
        result = apply(row, values)
        traced.append((result.shape, result.dtype))
        return result

    return function


@pytest.mark.parametrize("name", ROWS)
def test_inferred_shapes(name):
    """What tracing says of shape and dtype holds for what the graph gives."""
    row = ROWS[name]
    dtype = dtypes_of(row)[0]
    inputs = inputs_of(row, dtype, ((2, 3),))
    wanted = reference(row, inputs)
    for known in itertools.product((True, False, None), repeat=len(inputs)):
        traced = []
        specs = {
            key: tf.TensorSpec(
                {True: (2, 3), False: (None, 3), None: None}[how], tf.constant(value).dtype
            )
            for how, (key, value) in zip(known, inputs.items(), strict=True)
        }
        function = tf.function(recording(row, traced), input_signature=(specs,))
        result = function(tensors(inputs))
        check_equal(row, result, wanted)
        shape, result_dtype = traced[-1]
        assert result_dtype == result.dtype
        assert shape.is_compatible_with(result.shape)
        if all(how is True for how in known) and name != "Where":
            assert shape.is_fully_defined()


def differentiable(row):
    if row["no_gradient_check"] or row["gradient"] is not True:
        return False
    return "float64" in dtypes_of(row) and "zero derivative" not in row["traits"]


DIFFERENTIABLE = [name for name, row in ROWS.items() if differentiable(row)]


def float_inputs(inputs):
    return [name for name, value in inputs.items() if value.dtype == np.float64]


def difference(row, inputs, direction):
    """The change of the weighted sum of the results along a direction of all inputs."""
    step = 1e-6

    def total(sign):
        moved = {
            name: value + sign * step * direction[name] if name in direction else value
            for name, value in inputs.items()
        }
        result = apply(row, tensors(moved)).numpy()
        return np.sum(result * weights_like(result))

    return (total(1) - total(-1)) / (2 * step)


def weights_like(result):
    return np.cos(np.arange(result.size, dtype=np.float64)).reshape(result.shape) + 1.5


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("shapes", [((2, 3),), ((2, 1), (3,))])
def test_derivatives(name, shapes):
    row = ROWS[name]
    if len(shapes) > 1 and len(row["inputs"]) < 2:
        shapes = shapes[:1]
    inputs = inputs_of(row, "float64", shapes, seed=1)
    given = tensors(inputs)
    names = float_inputs(inputs)
    random = np.random.default_rng(3)
    direction = {key: random.uniform(-1, 1, inputs[key].shape) for key in names}
    with tf.GradientTape() as tape:
        for key in names:
            tape.watch(given[key])
        result = apply(row, given)
    weights = tf.constant(weights_like(result.numpy()))
    gradients = tape.gradient(result, [given[key] for key in names], output_gradients=weights)
    slope = 0.0
    for key, gradient in zip(names, gradients, strict=True):
        assert gradient.shape == given[key].shape
        slope += np.sum(gradient.numpy() * direction[key])
    wanted = difference(row, inputs, direction)
    assert slope == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    primals = [given[key] for key in names]
    with tf.autodiff.ForwardAccumulator(primals, [tf.constant(direction[k]) for k in names]) as acc:
        result = apply(row, given)
    tangent = acc.jvp(result).numpy()
    assert np.sum(tangent * weights.numpy()) == pytest.approx(slope, rel=1e-9, abs=1e-9)


def test_every_row_is_tested_here_or_says_where():
    root = pathlib.Path(__file__).parents[2]
    for row in _core.op_rows():
        reason = row["no_reference_because"]
        assert row["reference"] or reason, row["name"]
        for path in re.findall(r"tests/[\w/]+\.\w+", reason or ""):
            assert (root / path).exists(), (row["name"], path)
    assert len(ROWS) > 40
