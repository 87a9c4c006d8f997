"""Convolutions against numbers recorded from TensorFlow 2.21, in both layouts, with gradients."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

# strides, dilations, padding, output shape, and weighted sums of the output and of the gradients by
# input and filter (None where TensorFlow has none on a CPU).
RECORDED = [
    (1, 1, "SAME", (2, 7, 6, 3), 0.2079, -12.4237, -4.3038),
    (1, 1, "VALID", (2, 5, 5, 3), -10.0862, 0.2832, -14.9585),
    (1, 1, [[0, 0], [1, 2], [0, 3], [0, 0]], (2, 8, 8, 3), 0.1435, 13.1288, -6.3993),
    (1, 2, "SAME", (2, 7, 6, 3), 0.1207, None, None),
    (1, 2, "VALID", (2, 3, 4, 3), 7.535, None, None),
    (1, 2, [[0, 0], [1, 2], [0, 3], [0, 0]], (2, 6, 7, 3), -0.921, None, None),
    (2, 1, "SAME", (2, 4, 3, 3), -6.9342, -0.7756, -7.5185),
    (2, 1, "VALID", (2, 3, 3, 3), -18.7317, 1.28, -47.8647),
    (2, 1, [[0, 0], [1, 2], [0, 3], [0, 0]], (2, 4, 4, 3), 30.1464, -0.0205, 49.957),
    ((2, 1), 1, "SAME", (2, 4, 6, 3), 0.2407, -0.6777, -12.4452),
    ((2, 1), 1, "VALID", (2, 3, 5, 3), 0.723, -0.4802, 3.1821),
    ((2, 1), 1, [[0, 0], [1, 2], [0, 3], [0, 0]], (2, 4, 8, 3), -1.7847, -0.9196, -12.0861),
]


def numbers(*shape):
    count = int(np.prod(shape))
    return np.sin(np.arange(count) * 0.7 + 0.3).reshape(shape).astype(np.float32)


def weights(shape):
    return np.cos(np.arange(int(np.prod(shape))) * 0.3).reshape(shape)


def weighted(value):
    value = np.asarray(value, np.float64)
    return float((value * weights(value.shape)).sum())


@pytest.mark.parametrize(
    ("strides", "dilations", "padding", "shape", "output", "by_input", "by_filter"), RECORDED
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_recorded(strides, dilations, padding, shape, output, by_input, by_filter, dtype):
    x = tf.constant(numbers(2, 7, 6, 4).astype(dtype))
    f = tf.constant(numbers(3, 2, 4, 3).astype(dtype))
    with tf.GradientTape() as tape:
        tape.watch([x, f])
        y = tf.nn.conv2d(x, f, strides, padding, dilations=dilations)
    assert tuple(y.shape) == shape
    assert weighted(y) == pytest.approx(output, abs=2e-3)
    upstream = tf.constant(weights(shape).astype(dtype))
    gradients = tape.gradient(y, [x, f], output_gradients=upstream)
    for gradient, wanted in zip(gradients, (by_input, by_filter), strict=True):
        if wanted is not None:
            assert weighted(gradient) == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("strides", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_channels_first_is_the_transpose(strides, padding):
    x, f = numbers(2, 7, 6, 4), numbers(3, 2, 2, 4)  # two groups
    last = tf.nn.conv2d(x, f, strides, padding)
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), f, strides, padding, data_format="NCHW")
    np.testing.assert_allclose(first.numpy().transpose(0, 2, 3, 1), last.numpy(), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_dtypes_accumulate_in_float32(dtype):
    x = tf.cast(numbers(1, 5, 5, 3), dtype)
    f = tf.cast(numbers(2, 2, 3, 2), dtype)
    wide = tf.nn.conv2d(tf.cast(x, tf.float32), tf.cast(f, tf.float32), 1, "VALID")
    narrow = tf.nn.conv2d(x, f, 1, "VALID")
    np.testing.assert_array_equal(narrow.numpy(), tf.cast(wide, dtype).numpy())


def test_errors():
    x, f = numbers(1, 3, 3, 2), numbers(2, 2, 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.conv2d(x, numbers(2, 2, 3, 2), 1, "SAME")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.conv2d(x, numbers(5, 2, 2, 2), 1, "VALID")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.conv2d(x, f, 1, "AROUND")
    with pytest.raises(ValueError):
        tf.function(lambda: tf.nn.conv2d(x, f, 1, "AROUND"), autograph=False)()
    with pytest.raises(ValueError):
        tf.nn.conv2d(x, f, [1, 1, 1], "SAME")
    with pytest.raises(ValueError):
        tf.function(lambda a: tf.nn.conv2d(a, f, 1, "VALID"), autograph=False)(numbers(1, 0, 3, 2))


def test_second_derivatives_agree_with_differences():
    x, f = tf.constant(numbers(1, 4, 4, 2).astype(np.float64)), numbers(2, 2, 2, 2)
    f = f.astype(np.float64)

    def gradient(filters):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.conv2d(x, filters, 1, "SAME") ** 3)
        return tape.gradient(loss, x)

    filters = tf.constant(f)
    with tf.GradientTape() as outer:
        outer.watch(filters)
        total = tf.reduce_sum(gradient(filters) * weights((1, 4, 4, 2)))
    second = outer.gradient(total, filters).numpy()
    direction = numbers(2, 2, 2, 2)

    def total_at(step):
        return np.sum(gradient(tf.constant(f + step * direction)).numpy() * weights((1, 4, 4, 2)))

    difference = (total_at(1e-5) - total_at(-1e-5)) / 2e-5
    assert np.sum(second * direction) == pytest.approx(difference, rel=1e-6)
