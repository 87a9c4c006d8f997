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


def _second_order(function, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


def _cubes(x):
    i = 0
    while i < 2:
        x = x * x * x
        i += 1
    return x


def _chosen_cube(x):
    if x > 0.0:  # noqa: SIM108
        y = x * x * x
    else:
        y = x * x
    return y


_inner_cube = tf.function(lambda x: x * x * x)


def _called_cube(x):
    return _inner_cube(x) + _inner_cube(x * 2.0)


@pytest.mark.parametrize(
    ("body", "first", "second"),
    [
        (_cubes, 9 * 1.1**8, 72 * 1.1**7),
        (_chosen_cube, 3 * 1.1**2, 6 * 1.1),
        (_called_cube, 27 * 1.1**2, 54 * 1.1),
    ],
)
def test_second_derivatives_through_functions(body, first, second):
    x = tf.constant(1.1)
    function = tf.function(body)
    for result in (
        _second_order(function, x),  # tapes outside
        tf.function(lambda x: _second_order(body, x))(x),  # tapes inside
        _second_order(tf.function(lambda x: function(x)), x),
    ):
        near(result[0], first)
        near(result[1], second)

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = body(x)
        return tape.gradient(y, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = inside(x)
    near(tape.gradient(y, x), second)


def test_a_persistent_tape_differentiates_its_own_gradient_of_a_call():
    x = tf.constant(1.1)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = _inner_cube(x)
        first = tape.gradient(y, x)
    near(first, 3 * 1.1**2)
    near(tape.gradient(first, x), 6 * 1.1)
    near(tape.gradient(y, x), 3 * 1.1**2)


def test_forward_and_reverse_mode_mix_through_calls():
    x = tf.constant(1.1)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _inner_cube(x)
        first = tape.gradient(y, x)
    near(first, 3 * 1.1**2)
    near(accumulator.jvp(first), 6 * 1.1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = tf.function(_cubes)(x)
        first = accumulator.jvp(y)
    near(first, 9 * 1.1**8)
    near(tape.gradient(first, x), 72 * 1.1**7)


def test_effects_happen_once_however_many_observe():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return x * x * v

    _second_order(f, tf.constant(3.0))
    assert v.numpy() == 1.0


@tf.custom_gradient
def _scaled_square(x):
    return x * x, lambda upstream: upstream * 100.0 * x


def test_custom_gradients_are_kept_by_functions():
    x = tf.constant(3.0)

    def gradient(function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    def looped(x):
        i = 0
        while i < 2:
            x = _scaled_square(x)
            i += 1
        return x

    def chosen(x):
        if x > 0.0:  # noqa: SIM108
            y = _scaled_square(x)
        else:
            y = x
        return y

    called = tf.function(_scaled_square)
    near(gradient(tf.function(lambda x: _scaled_square(x) * 2.0)), 600.0)
    near(gradient(tf.function(looped)), 100.0 * 3 * 100.0 * 9)
    near(gradient(tf.function(chosen)), 300.0)
    near(gradient(tf.function(lambda x: called(x) + 1.0)), 300.0)
    near(tf.function(lambda x: gradient(called))(x), 300.0)
    near(_second_order(called, x)[1], 100.0)
    near(_second_order(tf.function(looped), x)[0], 100.0 * 3 * 100.0 * 9)


def test_custom_gradients_of_variables_are_kept_by_functions():
    v, x = tf.Variable(2.0), tf.constant(3.0)

    @tf.custom_gradient
    def f(x):
        def gradient(upstream, variables=None):
            assert len(variables) == 1
            return upstream * 10.0, [upstream * 20.0]

        return x * v, gradient

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(f)(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [10.0, 20.0]


def test_a_custom_gradient_that_fails_matters_only_if_asked_for():
    @tf.custom_gradient
    def f(x):
        def gradient(upstream):
            raise NotImplementedError("none here")

        return x * 2.0, gradient

    x = tf.constant(3.0)
    assert tf.function(f)(x).numpy() == 6.0


def test_values_between_target_and_source_have_gradients():
    x = tf.constant(0.7)

    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = _cubes(x)
            z = y * y
        return tape.gradient(z, y), tape.gradient(y, x), tape.gradient(z, x)

    for given, expected in zip(f(x), (2 * 0.7**9, 9 * 0.7**8, 18 * 0.7**17)):
        near(given, expected)
    with tf.GradientTape() as tape:
        pass
    near(tape.gradient(x, x), 1.0)


def test_weights_of_targets():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = x * x, x * 3.0
    weight = tf.constant([1.0, 10.0])
    near(tape.gradient([a, b], x, output_gradients=[weight, None]), [2.0, 40.0])
    near(tape.gradient(a, x, output_gradients=tf.constant(3.0)), [6.0, 12.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(a, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError, match="Argument `target` should be a list or nested structure"):
        tape.gradient(None, x)


def test_forward_mode_from_variables_through_functions():
    v = tf.Variable(1.3)

    @tf.function
    def f(x):
        i = 0
        while i < 3:
            x = x * v
            i += 1
        return x

    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as accumulator:
        y = f(tf.constant(2.0))
    near(accumulator.jvp(y), 6 * 1.3**2)


def test_captured_tensors_that_a_tape_watches():
    small, large = tf.constant(2.0), tf.ones([200])

    @tf.function
    def f(x):
        return tf.reduce_sum(large * x) * small

    with tf.GradientTape() as tape:
        tape.watch([small, large])
        y = f(tf.constant(3.0))
    gs, gl = tape.gradient(y, [small, large])
    near(gs, 600.0)
    near(gl, np.full(200, 6.0))
