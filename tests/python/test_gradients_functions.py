"""Derivatives through tf.function: forward over reverse in one function, sparse gradients, captured
constants. Values are TensorFlow 2.21's where it has them."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf


def loop(x):
    y = x
    for _ in tf.range(3):
        y = y * x
    return y


def no_loop(x):
    y = x
    for _ in tf.range(tf.constant(0)):
        y = y * x
    return y


def data_dependent(x):
    y = x
    while y < 50.0:
        y = y * x
    return y


def branch(x):
    if x > 1.0:
        y = x * x * x
    else:
        y = x
    return y


cube = tf.function(lambda x: x * x * x)


def nested(x):
    y = x
    for i in tf.range(2):
        for _ in tf.range(i + 1):
            y = y * x
        y = tf.sin(y)
    return y


def growing(x):
    y = tf.reshape(x, [1])
    for _ in tf.range(2):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y[-1:] * x], 0)
    return tf.reduce_sum(y)


PROGRAMS = [
    (loop, 32.0, 48.0, 48.0),
    (no_loop, 1.0, 0.0, 0.0),
    (data_dependent, 192.0, 480.0, 960.0),
    (branch, 12.0, 12.0, 6.0),
    (cube, 12.0, 12.0, 6.0),
    (nested, 13.397387, 0.115931, -2883.9705),
    (growing, 17.0, 14.0, 6.0),
]
NAMES = [getattr(program[0], "__name__", "call") for program in PROGRAMS]


def gradient(f):
    def derivative(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return derivative


def tangent(f):
    def derivative(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = f(x)
        return accumulator.jvp(y)

    return derivative


@pytest.mark.parametrize(("f", "first", "second", "third"), PROGRAMS, ids=NAMES)
def test_derivatives_mix_in_one_function_and_around_it(f, first, second, third):
    x = tf.constant(2.0)
    for inside in (True, False):

        def run(derive, inside=inside):
            result = tf.function(derive(f))(x) if inside else derive(tf.function(f))(x)
            assert result is not None
            return result.numpy()

        for outer, inner in [
            (gradient, gradient),
            (tangent, gradient),
            (gradient, tangent),
            (tangent, tangent),
        ]:
            assert run(inner) == pytest.approx(first, rel=1e-5)
            assert run(lambda g, o=outer, i=inner: o(i(g))) == pytest.approx(
                second, rel=1e-4, abs=1e-4
            )
        assert run(lambda g: gradient(gradient(gradient(g)))) == pytest.approx(third, rel=1e-4)


def test_a_tangent_inside_the_body_of_a_loop_around_which_the_accumulator_is():
    @tf.function
    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y, sum_of_tangents = x, tf.constant(0.0)
            for _ in tf.range(2):
                y = y * x
                sum_of_tangents += accumulator.jvp(y)
        return sum_of_tangents

    with pytest.raises(tf.errors.UnimplementedError, match="after the loop"):
        f(tf.constant(2.0))


def test_constants_of_a_trace_that_are_watched_later():
    c = tf.constant(3.0)
    inner = tf.function(lambda x: x * c)
    outer = tf.function(lambda x: inner(x) + loop_of_inner(x))

    def loop_of_inner(x):
        y = x
        for _ in tf.range(2):
            y = inner(y)
        return y

    for f, expected in [(inner, 2.0), (outer, 14.0)]:
        f(tf.constant(2.0))  # the trace takes c as a constant
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = f(tf.constant(2.0))
        assert tape.gradient(y, c).numpy() == expected
        with tf.autodiff.ForwardAccumulator(c, tf.constant(1.0)) as accumulator:
            y = f(tf.constant(2.0))
        assert accumulator.jvp(y).numpy() == expected
    assert inner.experimental_get_tracing_count() == 1
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        g = tape.gradient(outer(tf.constant(2.0)), c)
    assert tape.gradient(g, c).numpy() == 4.0

    @tf.function
    def tape_inside(x):
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = inner(x)
        return tape.gradient(y, c)

    assert tape_inside(tf.constant(2.0)).numpy() == 2.0


def test_a_variable_of_a_first_trace_that_failed():
    made = []

    @tf.function
    def f(x, fail):
        if not made:
            made.append(tf.Variable(5.0))
            made.append(tf.Variable(x * 2.0))
        if fail:
            raise KeyError("boom")
        return made[0] + made[1]

    with pytest.raises(KeyError):
        f(tf.constant(1.5), True)
    assert [variable.numpy() for variable in made] == [5.0, 3.0]
    assert f(tf.constant(1.5), False).numpy() == 8.0


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def conditional_gather(v, i):
    if tf.reduce_sum(i) > 0:
        y = tf.reduce_sum(tf.gather(v, i))
    else:
        y = tf.constant(0.0)
    return y


@pytest.mark.parametrize(
    ("f", "factor"),
    [
        (lambda v, i: tf.reduce_sum(tf.gather(v, i)), 1.0),
        (lambda v, i: tf.function(lambda j: tf.reduce_sum(tf.gather(v, j)))(i) * 2.0, 2.0),
        (lambda v, i: tf.reduce_sum(tf.gather(tf.convert_to_tensor(v), i)), 1.0),
        (lambda v, i: tf.reduce_sum(tf.gather(tf.identity(v), i)), 1.0),
        (conditional_gather, 1.0),
    ],
    ids=["gather", "call in a call", "read", "identity", "branch"],
)
def test_gathers_keep_sparse_gradients_through_calls(f, factor):
    v = tf.Variable(ROWS)
    for run in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            y = run(v, tf.constant([0, 2, 0]))
        g = tape.gradient(y, v)
        assert isinstance(g, tf.IndexedSlices)
        assert g.indices.numpy().tolist() == [0, 2, 0]
        assert g.dense_shape.numpy().tolist() == [3, 2]
        np.testing.assert_array_equal(g.values, np.full([3, 2], factor))


def test_branches_that_use_a_variable_differently_have_dense_gradients():
    v = tf.Variable(ROWS)

    @tf.function
    def f(i):
        if tf.reduce_sum(i) > 0:
            y = tf.reduce_sum(tf.gather(v, i))
        else:
            y = tf.reduce_sum(v * v)
        return y

    for indices, expected in [
        ([0, 2, 0], [[2, 2], [0, 0], [1, 1]]),
        ([0, 0, 0], [[2, 4], [6, 8], [10, 12]]),
    ]:
        with tf.GradientTape() as tape:
            y = f(tf.constant(indices))
        np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(y, v)), expected)


def test_functions_return_and_take_indexed_slices():
    v = tf.Variable(ROWS)

    @tf.function
    def gradients(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(v, i))
        return {"gradient": [tape.gradient(y, v)], "y": y}

    g = gradients(tf.constant([0, 2]))["gradient"][0]
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [0, 2]
    dense = tf.function(lambda slices: tf.convert_to_tensor(slices) * 2.0)
    np.testing.assert_array_equal(dense(g), [[2, 2], [0, 0], [2, 2]])
    again = tf.function(lambda slices: slices)(g)
    assert isinstance(again, tf.IndexedSlices)
    np.testing.assert_array_equal(again.values, g.values)


def test_the_spec_of_indexed_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    spec = tf.type_spec_from_value(slices)
    assert repr(spec) == (
        "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int32, tf.int32, TensorShape([1]))"
    )
    assert repr(tf.IndexedSlicesSpec()) == (
        "IndexedSlicesSpec(TensorShape(None), tf.float32, tf.int64, None, TensorShape([None]))"
    )
    assert len(tf.nest.flatten(slices, expand_composites=True)) == 3
    assert tf.nest.flatten(slices) == [slices]
    assert tf.IndexedSlicesSpec(
        [None, 2], tf.float32, tf.int32, tf.int32, [None]
    ).is_compatible_with(slices)
    assert not tf.IndexedSlicesSpec([None, 3], tf.float32, tf.int32, tf.int32).is_compatible_with(
        slices
    )
    bare = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]))
    assert repr(tf.type_spec_from_value(bare)) == (
        "IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int32, None, TensorShape([1]))"
    )
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(bare)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (3.0, AttributeError),
        (np.float32(1), AttributeError),
        ("a", TypeError),
        (None, TypeError),
        (object(), TypeError),
        (tf.TensorSpec([]), TypeError),
    ],
)
def test_targets_and_sources_that_are_no_tensors(value, error):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(error):
        tape.gradient(y, [x, value])
    with pytest.raises(error):
        tape.gradient(value, x)


def test_rows_scattered_to_one_index_twice_have_the_gradient_of_the_last():
    def f(rows):
        array = tf.TensorArray(tf.float64, 3).scatter([0, 2, 2], rows)
        return tf.reduce_sum(array.stack() * tf.constant([[1.0], [2.0], [3.0]], tf.float64))

    rows = tf.constant([[1.0], [2.0], [4.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = tf.function(f)(rows)
    assert y.numpy() == 13.0
    assert tape.gradient(y, rows).numpy().tolist() == [[1.0], [0.0], [3.0]]
