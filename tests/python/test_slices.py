"""Slicing with Python's syntax, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

X = np.arange(60).reshape(3, 4, 5).astype(np.float32)
SLICES = [
    np.s_[0],
    np.s_[-1],
    np.s_[1, 2],
    np.s_[1, 2, 3],
    np.s_[1:],
    np.s_[::-1],
    np.s_[:, 1:-1],
    np.s_[..., 0],
    np.s_[0, ..., -1],
    np.s_[None],
    np.s_[:, None, 2],
    np.s_[..., None],
    np.s_[2:0:-1, ::2, 4:1:-2],
    np.s_[5:],
    np.s_[:0],
    np.s_[-100:100],
    np.s_[1:1],
    np.s_[:, :, None, None],
    np.s_[...],
]


@pytest.mark.parametrize("index", SLICES)
def test_slices(index):
    wanted = X[index]
    np.testing.assert_array_equal(tf.constant(X)[index].numpy(), wanted)
    for shape in ((3, 4, 5), (None, 4, None), (None, None, None)):
        function = tf.function(
            lambda x: x[index], input_signature=[tf.TensorSpec(shape, tf.float32)], autograph=False
        )
        np.testing.assert_array_equal(function(X).numpy(), wanted)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index] * 2.0
    gradient = np.zeros_like(X)
    gradient[index] = 2
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), gradient)


def test_indices_that_are_tensors():
    x = tf.constant(X)
    i = tf.constant(2)
    np.testing.assert_array_equal(x[i].numpy(), X[2])
    np.testing.assert_array_equal(x[:i, i - 1].numpy(), X[:2, 1])
    function = tf.function(lambda x, i: x[i:, -i], autograph=False)
    np.testing.assert_array_equal(function(x, i).numpy(), X[2:, -2])


@pytest.mark.parametrize("index", [3, -4, (0, 4), (0, 0, 0, 0), np.s_[::0]])
def test_errors(index):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(X)[index]
    with pytest.raises(ValueError):
        tf.function(lambda x: x[index], autograph=False)(X)


def test_strided_slice_function():
    np.testing.assert_array_equal(
        tf.strided_slice(X, [0, 1, 0], [3, 4, 5], [2, 2, 2]).numpy(), X[0:3:2, 1:4:2, ::2]
    )
    np.testing.assert_array_equal(tf.strided_slice(X, [1], [0], shrink_axis_mask=1).numpy(), X[1])
