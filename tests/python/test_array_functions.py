"""Functions that make, reshape and rearrange tensors, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

DTYPES = ["float16", "float32", "float64", "int8", "uint16", "int32", "int64", "bool", "complex64"]


def array(*shape, dtype="float32"):
    return (np.arange(int(np.prod(shape))) % 7).reshape(shape).astype(dtype)


def check(tensor, wanted):
    wanted = np.asarray(wanted)
    result = np.asarray(tensor.numpy())
    assert result.shape == wanted.shape
    assert result.dtype == wanted.dtype
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_moved(dtype):
    x = array(2, 3, 4, dtype=dtype)
    check(tf.reshape(x, [4, -1]), x.reshape(4, 6))
    check(tf.transpose(x), x.transpose())
    check(tf.transpose(x, [1, 0, 2]), x.transpose(1, 0, 2))
    check(tf.expand_dims(x, -2), np.expand_dims(x, -2))
    check(tf.squeeze(x[None, :, :, :1]), x[:, :, 0])
    check(tf.concat([x, x], -1), np.concatenate([x, x], -1))
    check(tf.stack([x, x], 1), np.stack([x, x], 1))
    check(tf.tile(x, [1, 2, 3]), np.tile(x, (1, 2, 3)))
    check(tf.broadcast_to(x[:, :1], [5, 2, 3, 4]), np.broadcast_to(x[:, :1], (5, 2, 3, 4)))
    check(tf.reverse(x, [0, -1]), x[::-1, :, ::-1])
    check(tf.zeros_like(x), np.zeros_like(x))
    check(tf.ones_like(x), np.ones_like(x))
    check(tf.slice(x, [0, 1, 1], [-1, 2, 2]), x[:, 1:3, 1:3])
    check(tf.pad(x, [[1, 0], [0, 2], [0, 0]]), np.pad(x, [(1, 0), (0, 2), (0, 0)]))
    for piece, wanted in zip(tf.split(x, 2, axis=2), np.split(x, 2, axis=2), strict=True):
        check(piece, wanted)
    for piece, wanted in zip(tf.split(x, [1, -1], axis=1), (x[:, :1], x[:, 1:]), strict=True):
        check(piece, wanted)
    for piece, wanted in zip(tf.unstack(x, axis=1), x.transpose(1, 0, 2), strict=True):
        check(piece, wanted)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3)])
def test_constants_of_a_shape(shape):
    check(tf.zeros(shape), np.zeros(shape, np.float32))
    check(tf.ones(shape, tf.int64), np.ones(shape, np.int64))
    check(tf.fill(shape, 7), np.full(shape, 7, np.int32))
    check(tf.shape(tf.zeros(shape)), np.array(shape, np.int32))
    check(tf.shape(tf.zeros(shape), out_type=tf.int64), np.array(shape, np.int64))
    assert tf.size(tf.zeros(shape)).numpy() == np.prod(shape)
    assert tf.rank(tf.zeros(shape)).numpy() == len(shape)
    assert tf.zeros(shape, tf.string).dtype == tf.string


def test_range_as_tensorflow_has_it():
    check(tf.range(5), np.arange(5, dtype=np.int32))
    check(tf.range(2, 9, 3), np.array([2, 5, 8], np.int32))
    check(tf.range(tf.constant(3, tf.int64)), np.arange(3, dtype=np.int64))
    check(tf.range(3, dtype=tf.int64), np.arange(3, dtype=np.int64))
    check(tf.range(0, 2.5), np.array([0, 1, 2], np.float32))
    check(tf.range(3, delta=2), np.array([0, 2], np.int32))
    assert tf.range(0.0, 1.0, 0.1).numpy()[9] == np.float32(0.90000004)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires start <= limit"):
        tf.range(5, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="delta != 0"):
        tf.range(0, 3, 0)
    np.testing.assert_allclose(tf.linspace(0.0, 1.0, 4).numpy(), np.linspace(0, 1, 4), rtol=1e-6)


def test_where_and_eye():
    x = array(2, 3)
    check(tf.where(x > 2, x, 0.0), np.where(x > 2, x, np.float32(0)))
    check(tf.where([[True], [False]], [1, 2], 5), np.array([[1, 2], [5, 5]], np.int32))
    check(tf.where(x > 2), np.argwhere(x > 2))
    check(tf.eye(2, 3), np.eye(2, 3, dtype=np.float32))
    check(
        tf.eye(2, num_columns=3, batch_shape=[1], dtype=tf.int32),
        np.eye(2, 3, dtype=np.int32)[None],
    )
    with pytest.raises(ValueError, match="both"):
        tf.where(x > 2, x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.where(tf.constant([1, 0]), 1, 2)


ERRORS = [
    (lambda x: tf.reshape(x, [4]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.transpose(x, [0, 0]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.expand_dims(x, 4), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.squeeze(x, 0), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.concat([x, x[:1]], 1), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.stack([x, x[:1]]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.split(x, 2, axis=1), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.tile(x, [2]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.pad(x, [[-1, 0], [0, 0]]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.slice(x, [0, 0], [3, 1]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.broadcast_to(x, [2, 2]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.reverse(x, [2]), tf.errors.InvalidArgumentError, ValueError),
    (lambda x: tf.pad(x, [[0, 0], [0, 0]], "SIDEWAYS"), ValueError, ValueError),
]


@pytest.mark.parametrize(("function", "eager", "staged"), ERRORS)
def test_errors_are_tensorflows_eager_and_staged(function, eager, staged):
    x = tf.constant(array(2, 3))
    with pytest.raises(eager):
        function(x)
    with pytest.raises(staged):
        tf.function(function, autograph=False)(x)


def test_unknown_shapes_are_checked_when_they_are_known():
    spec = tf.TensorSpec(None, tf.float32)
    reshape = tf.function(lambda x: tf.reshape(x, [3, -1]), input_signature=[spec], autograph=False)
    assert reshape(array(6)).shape == (3, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        reshape(array(4))
    square = tf.function(lambda x: tf.transpose(x), input_signature=[spec], autograph=False)
    check(square(array(2, 3)), array(2, 3).T)


def test_shapes_known_in_part():
    traced = []

    def function(x):
        for value in (
            tf.reshape(x, [-1, 6]),
            tf.reshape(x, [tf.shape(x)[0], 6]),
            tf.concat([x, x], 1),
            tf.stack([x, x]),
            tf.zeros([tf.shape(x)[0], 4]),
            tf.transpose(x),
            x[:, 0],
            tf.gather(x, [0, 0], axis=1),
            tf.matmul(tf.transpose(x, [0, 2, 1]), x),
        ):
            traced.append(value.shape.as_list())
        return x

    tf.function(function, autograph=False).get_concrete_function(
        tf.TensorSpec([None, 2, 3], tf.float32)
    )
    assert traced == [
        [None, 6],
        [None, 6],
        [None, 4, 3],
        [2, None, 2, 3],
        [None, 4],
        [3, 2, None],
        [None, 3],
        [None, 2, 3],
        [None, 3, 3],
    ]
