"""Tapes, forward accumulators and custom gradients. Expected values are TensorFlow 2.21's."""

import numpy as np
import pytest

import graphwright as tf


def near(tensor, expected, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(tensor), expected, rtol=tolerance, atol=tolerance)


def test_a_tape_is_used_once():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    near(tape.gradient(y, x), 6.0)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_structures_and_unconnected_sources():
    x, other = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    gradients = tape.gradient(y, {"a": x, "b": [x, other]})
    near(gradients["a"], 6.0)
    near(gradients["b"][0], 6.0)
    assert gradients["b"][1] is None
    near(tape.gradient(y, other, unconnected_gradients="zero"), 0.0)
    near(tape.gradient([y, y], x, output_gradients=[tf.constant(2.0), tf.constant(1.0)]), 18.0)
    assert tape.gradient(tf.constant(1), x) is None


def test_what_is_no_tensor_is_refused():
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="Passed in object a of type"):
        tape.watch("a")


def test_variables_are_watched():
    v, w = tf.Variable(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * w
    assert [variable is v for variable in tape.watched_variables()] == [True]
    near(tape.gradient(y, v), 20.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None


def test_gather_gives_indexed_slices():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0, 2, 0])
    gradient = tape.gradient(y, v)
    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.indices.numpy().tolist() == [0, 2, 0]
    assert gradient.values.numpy().tolist() == [1.0, 1.0, 1.0]
    assert gradient.dense_shape.numpy().tolist() == [3]
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [2.0, 0.0, 1.0]


def test_broadcasting_sums_back():
    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([10.0, 20.0])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * b
    ga, gb = tape.gradient(y, [a, b])
    assert ga.numpy().tolist() == [[10.0, 20.0], [10.0, 20.0]]
    assert gb.numpy().tolist() == [4.0, 6.0]


def test_higher_orders():
    x = tf.constant(0.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.tanh(x)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    t = np.tanh(0.5)
    near(first, 1 - t * t)
    near(second, -2 * t * (1 - t * t))


def test_stop_recording_and_stop_gradient():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            hidden = x * x
        y = x * 2.0 + hidden + tf.stop_gradient(x * 7.0)
    near(tape.gradient(y, x), 2.0)


def test_jacobians():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).numpy().tolist() == np.diag([2.0, 4.0, 6.0]).tolist()
    z = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    assert tape.batch_jacobian(y, z).numpy().tolist() == [
        [[2.0, 0.0], [0.0, 4.0]],
        [[6.0, 0.0], [0.0, 8.0]],
    ]


def test_forward_mode():
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = x * x
    near(accumulator.jvp(y), 6.0)
    assert accumulator.jvp(tf.constant(1.0)) is None
    near(accumulator.jvp(tf.constant(1.0), tf.UnconnectedGradients.ZERO), 0.0)
    with pytest.raises(ValueError):
        tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0]))


def test_custom_gradient():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 100.0

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    near(tape.gradient(y, x), 100.0)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    near(inside(x), 100.0)


@tf.function
def _loop(x, v, n):
    i = 0
    while i < n:
        x = x * tf.tanh(x) + v
        i += 1
    return x


@tf.function
def _branch(x, v):
    if x > 0.0:  # noqa: SIM108
        y = x * v
    else:
        y = x * x * v
    return y


def _eager_loop(x, v, n):
    for _ in range(n):
        x = x * tf.tanh(x) + v
    return x


@pytest.mark.parametrize("n", [0, 1, 4])
def test_gradients_of_staged_loops_equal_eager_ones(n):
    x, v = tf.constant([0.5, -0.3]), tf.Variable([0.1, 0.2])

    def gradients(function, count):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, v, count)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            z = function(x, v, count)
        return tape.gradient(y, [x, v]), accumulator.jvp(z)

    (gx, gv), tangent = gradients(_loop, tf.constant(n))
    (ex, ev), expected_tangent = gradients(_eager_loop, n)
    near(gx, ex)
    # A loop of no iterations gives zero where eager code has no path at all.
    near(gv, [0.0, 0.0] if ev is None else ev)
    near(tangent, expected_tangent)


def test_gradients_of_staged_branches():
    v = tf.Variable(3.0)
    for value in (2.0, -2.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _branch(x, v)
        gx, gv = tape.gradient(y, [x, v])
        near(gx, 3.0 if value > 0 else 2 * value * 3.0)
        near(gv, value if value > 0 else value * value)


def test_a_tape_inside_a_function_sees_its_loop():
    v = tf.Variable(0.5)

    @tf.function
    def train(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = x
            i = 0
            while i < n:
                z = tf.tanh(z) * x * v
                i += 1
        return tape.gradient(z, [x, v])

    x = tf.constant(1.2)
    gx, gv = train(x, tf.constant(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = x
        for _ in range(3):
            z = tf.tanh(z) * x * v
    ex, ev = tape.gradient(z, [x, v])
    near(gx, ex)
    near(gv, ev)


def test_no_gradient_where_there_is_none():
    x = tf.constant(2.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.floor(x)
    assert tape.gradient(y, x) is None
