"""Picking and placing by index, against NumPy and recorded values."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

X = np.arange(24).reshape(2, 3, 4).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_gather(axis, index_dtype):
    indices = np.array([[1, 0], [0, 1]], index_dtype)
    wanted = np.take(X, indices, axis)
    np.testing.assert_array_equal(tf.gather(X, indices, axis=axis).numpy(), wanted)
    x = tf.constant(X)
    weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape).astype(np.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.gather(x, indices, axis=axis) * weights)
    gradient = tf.convert_to_tensor(tape.gradient(y, x)).numpy()
    numeric = np.zeros_like(X)
    positions = np.take(np.arange(24).reshape(X.shape), indices, axis)
    np.add.at(numeric.reshape(-1), positions.reshape(-1), weights.reshape(-1))
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)


def test_batches():
    indices = np.array([[2, 0], [1, 1]], np.int32)
    wanted = np.stack([X[b][indices[b]] for b in range(2)])
    np.testing.assert_array_equal(tf.gather(X, indices, batch_dims=1).numpy(), wanted)
    assert tf.gather_nd([[1, 2], [3, 4]], [[0], [1]], batch_dims=1).numpy().tolist() == [1, 4]


def test_indexed_slices_of_a_variable():
    variable = tf.Variable(X[0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(variable, [2, 0, 2]))
    gradient = tape.gradient(y, variable)
    assert type(gradient).__name__ == "IndexedSlices"
    dense = tf.convert_to_tensor(gradient).numpy()
    np.testing.assert_array_equal(dense, [[1] * 4, [0] * 4, [2] * 4])


def test_gather_nd_and_scatter_nd():
    np.testing.assert_array_equal(tf.gather_nd(X, [[0, 1], [1, 2]]).numpy(), X[[0, 1], [1, 2]])
    scattered = tf.scatter_nd([[1], [1], [3]], [1.0, 4.0, 2.0], [5])
    assert scattered.numpy().tolist() == [0, 5, 0, 2, 0]
    updated = tf.tensor_scatter_nd_update(tf.zeros([3]), [[1]], [7.0])
    assert updated.numpy().tolist() == [0, 7, 0]
    total = tf.math.unsorted_segment_sum([1.0, 2.0, 3.0], [1, 0, 1], 2)
    assert total.numpy().tolist() == [2, 4]


def test_one_hot():
    np.testing.assert_array_equal(
        tf.one_hot([0, 2, -1], 3).numpy(), [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    )
    recorded = [[[5, 1], [1, 1], [1, 5]], [[1, 1], [5, 1], [1, 1]]]
    hot = tf.one_hot([[0, 2], [1, -1]], 3, on_value=5.0, off_value=1.0, axis=1)
    assert hot.numpy().tolist() == recorded
    assert tf.one_hot([1], 2, on_value=5, off_value=1).dtype == tf.int32


def test_boolean_mask():
    x = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
    assert tf.boolean_mask(x, [True, False]).numpy().tolist() == [[1, -2, 3]]
    mask = np.array([[True, False, True], [False, True, False]])
    assert tf.boolean_mask(x, mask).numpy().tolist() == [1, 3, 4]
    np.testing.assert_array_equal(tf.boolean_mask(x, [False, True, True], axis=1).numpy(), x[:, 1:])
    with pytest.raises(ValueError):
        tf.boolean_mask(x, True)
    with pytest.raises(ValueError):
        tf.boolean_mask(x, [True, False, True])


def test_errors_name_the_index():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0,1\] = 5 is not in \[0, 3\)"
    ):
        tf.gather(X, [[0, 5]], axis=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
        tf.gather_nd(X, [[0, 5]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
        tf.scatter_nd([[5]], [1], [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.math.unsorted_segment_sum([1, 2], [0, 5], 3)
