"""Reductions over axes, against NumPy and recorded values."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

AXES = [None, 0, 1, -1, [0, 2], [0, 1, 2], []]
X = np.sin(np.arange(24) + 0.2).reshape(2, 3, 4)


def numpy_axis(axis):
    return tuple(axis) if isinstance(axis, list) else axis


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
def test_reductions(axis, keepdims, dtype):
    kind = tf.as_dtype(dtype).as_numpy_dtype
    integer = np.dtype(kind).kind in "iu"
    x = (np.abs(X) * 3).astype(kind) if integer else X.astype(kind)
    tolerance = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 1e-5}.get(dtype, 1e-12)
    wide = x.astype(np.int64 if integer else np.float64)
    for ours, theirs in (
        (tf.reduce_sum, np.sum),
        (tf.reduce_prod, np.prod),
        (tf.reduce_max, np.max),
        (tf.reduce_min, np.min),
        (tf.reduce_mean, np.mean),
    ):
        got = ours(x, axis, keepdims)
        wanted = theirs(wide, axis=numpy_axis(axis), keepdims=keepdims)
        assert got.dtype == dtype
        if integer:
            wanted = np.trunc(wanted).astype(np.int64).astype(kind)
            np.testing.assert_array_equal(got.numpy(), wanted)
        else:
            np.testing.assert_allclose(
                np.asarray(got.numpy(), np.float64), wanted, rtol=tolerance, atol=tolerance
            )
    if not integer:
        mask = x > 0
        np.testing.assert_array_equal(
            tf.reduce_any(mask, axis, keepdims).numpy(),
            np.any(mask, axis=numpy_axis(axis), keepdims=keepdims),
        )
        np.testing.assert_array_equal(
            tf.reduce_all(mask, axis, keepdims).numpy(),
            np.all(mask, axis=numpy_axis(axis), keepdims=keepdims),
        )


def test_empty_and_special_values():
    empty = tf.zeros([0, 2])
    assert tf.reduce_sum(empty, 0).numpy().tolist() == [0, 0]
    assert tf.reduce_prod(empty, 0).numpy().tolist() == [1, 1]
    assert np.isneginf(tf.reduce_max(empty)) and np.isposinf(tf.reduce_min(empty))
    assert np.isnan(tf.reduce_mean(empty))
    assert np.isnan(tf.reduce_max([1.0, float("nan"), 2.0]))
    assert tf.reduce_sum(np.full(3, 2**30, np.int32)).numpy() == -(2**30)
    assert tf.reduce_mean([-1, -2, -4]).numpy() == -2
    assert tf.reduce_all(tf.zeros([0], tf.bool)).numpy() and not tf.reduce_any(
        tf.zeros([0], tf.bool)
    )


def test_composites_as_recorded():
    x = tf.constant([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
    assert tf.reduce_logsumexp(x).numpy() == pytest.approx(4.376434803009033, rel=1e-6)
    np.testing.assert_allclose(
        tf.reduce_logsumexp(x, axis=1).numpy(), [3.132845163345337, 4.036269664764404], rtol=1e-6
    )
    assert tf.reduce_logsumexp([1000.0, 1000.0]).numpy() == pytest.approx(1000 + np.log(2))
    assert tf.math.reduce_std(x).numpy() == pytest.approx(2.089989423751831, rel=1e-6)
    variance = tf.math.reduce_variance(x, axis=0, keepdims=True)
    np.testing.assert_allclose(variance.numpy(), [[0.0625, 9, 4]], rtol=1e-6)
    assert tf.math.count_nonzero(x).numpy() == 6
    with pytest.raises(TypeError):
        tf.math.reduce_variance(tf.constant([1, 2]))


def test_argmax_takes_the_first():
    assert tf.argmax([1, 3, 3]).numpy() == 1
    x = np.array([[1, 5, 5], [7, 2, 7]])
    assert tf.argmax(x, axis=1).numpy().tolist() == [1, 0]
    assert tf.argmin(x, axis=0).numpy().tolist() == [0, 1, 0]
    assert tf.argmin(x, axis=1, output_type=tf.int32).dtype == tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected dimension in the range"):
        tf.argmax(x, axis=5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
        tf.argmax(tf.zeros([0]))


def test_axes_that_are_tensors_or_wrong():
    x = tf.constant(X)
    np.testing.assert_allclose(tf.reduce_sum(x, tf.constant([0, -1])).numpy(), X.sum((0, 2)))
    function = tf.function(lambda x, axis: tf.reduce_sum(x, axis), autograph=False)
    np.testing.assert_allclose(function(x, tf.constant(1)).numpy(), X.sum(1))
    for axis in (3, [0, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.reduce_sum(x, axis)
        with pytest.raises(ValueError):
            tf.function(lambda x, axis=axis: tf.reduce_sum(x, axis), autograph=False)(x)


def test_add_n():
    assert tf.add_n([tf.constant(1), tf.constant(2), tf.constant(4)]).numpy() == 7
    with pytest.raises(ValueError):
        tf.add_n([])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add_n([tf.constant([1]), tf.constant([1, 2])])
