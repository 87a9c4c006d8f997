"""Conversions between dtypes, against NumPy and recorded values."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

NUMBERS = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64"]
NUMBERS += ["uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"]


@pytest.mark.parametrize("source", NUMBERS)
@pytest.mark.parametrize("target", NUMBERS)
def test_values_that_fit(source, target):
    values = np.array([0, 1, 2, 100]).astype(tf.as_dtype(source).as_numpy_dtype)
    got = tf.cast(values, target)
    assert got.dtype == target
    real = values.real if np.iscomplexobj(values) else values
    wide = real if target in ("complex64", "complex128") else real.astype(np.float64)
    wanted = wide.astype(tf.as_dtype(target).as_numpy_dtype)
    np.testing.assert_array_equal(got.numpy(), wanted)


NAN = float("nan")
RECORDED = [
    ([1.9, -1.9, NAN, 1e20, -1e20], "int32", [1, -1, -(2**31), -(2**31), -(2**31)]),
    ([1.9, -1.9, 300.0], "uint8", [1, 255, 44]),
    ([300, -1], "uint8", [44, 255]),
    ([1 + 2j], "float32", [1.0]),
    ([NAN, 1e20], "int64", [-(2**63), -(2**63)]),
    ([0.0, 0.1, NAN], "bool", [False, True, True]),
    ([3.99], "int8", [3]),
    ([-1.0, 3e9], "uint32", [4294967295, 3000000000]),
    ([65520.0, 65519.0], "float16", [float("inf"), 65504.0]),
    ([True], "complex64", [1 + 0j]),
]


@pytest.mark.parametrize(("values", "target", "wanted"), RECORDED)
def test_recorded_from_tensorflow(values, target, wanted):
    assert tf.cast(values, target).numpy().tolist() == wanted


def test_saturate_cast():
    assert tf.saturate_cast(tf.constant([-1e10, 300.0, 1e20]), tf.uint8).numpy().tolist() == [
        0,
        255,
        255,
    ]
    assert tf.saturate_cast(tf.constant([3e9, -3e9]), tf.int32).numpy().tolist() == [
        2147483520,
        -2147483648,
    ]
    large = np.array([2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    assert tf.saturate_cast(large, tf.int64).numpy().tolist() == [2**63 - 1] * 3
    with pytest.raises(TypeError):
        tf.saturate_cast(tf.constant([1j]), tf.int32)


def test_same_dtype_is_the_tensor_itself_and_strings_are_refused():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x or (tf.cast(x, tf.float32).numpy() == x.numpy()).all()
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast(tf.constant("1"), tf.int32)


def test_gradients_flow_between_floats_only():
    x = tf.constant([1.5, 2.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        wide = tf.cast(x, tf.float64) * 3.0
        whole = tf.cast(x, tf.int32)
    assert tape.gradient(wide, x).numpy().tolist() == [3, 3]
    assert tape.gradient(wide, x).dtype == tf.float32
    assert tape.gradient(whole, x) is None
