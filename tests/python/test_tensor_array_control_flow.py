"""tf.TensorArray through AutoGraph's and hand-made control flow; numbers from TensorFlow 2.21."""

import warnings

import numpy as np
import pytest

import graphwright as tf
from graphwright import _core

F = tf.float32


def test_a_branch_in_a_loop():
    @tf.function
    def run(n):
        ta = tf.TensorArray(F, 0, dynamic_size=True)
        for i in tf.range(n):
            if i % 2 == 0:
                ta = ta.write(i, tf.cast(i, F))
            else:
                ta = ta.write(i, -1.0)
        return ta.stack(), ta.size()

    stack, size = run(5)
    assert stack.numpy().tolist() == [0, -1, 2, -1, 4]
    assert int(size) == 5


def test_a_while_loop_with_a_way_out():
    @tf.function
    def run(n):
        ta = tf.TensorArray(F, 2, dynamic_size=True, element_shape=[])
        i = 0
        while i < n:
            ta = ta.write(i, tf.cast(i, F))
            i += 1
            if i == 4:
                break
        return ta.stack()

    assert run(tf.constant(10)).numpy().tolist() == [0, 1, 2, 3]
    assert run(tf.constant(1)).numpy().tolist() == [0, 0]


def test_reading_what_was_written_before():
    @tf.function
    def fibonacci(n):
        ta = tf.TensorArray(F, size=0, dynamic_size=True)
        ta = ta.unstack([0.0, 1.0])
        for i in tf.range(2, n):
            ta = ta.write(i, ta.read(i - 1) + ta.read(i - 2))
        return ta.stack()

    assert fibonacci(7).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8]


def test_effects_are_written():
    v = tf.Variable(1)

    @tf.function
    def run(n):
        ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            v.assign_add(i)
            ta = ta.write(i, v)
        return ta.stack()

    assert run(5).numpy().tolist() == [1, 2, 4, 7, 11]


def test_elements_of_differing_shapes():
    @tf.function
    def run(n):
        ta = tf.TensorArray(F, 3, infer_shape=False)
        for i in tf.range(n):
            ta = ta.write(i, tf.fill([i + 1], 1.0))
        return ta.read(0), ta.read(2), ta.concat()

    first, last, joined = run(3)
    assert first.numpy().tolist() == [1]
    assert last.numpy().tolist() == [1, 1, 1]
    assert joined.shape == [6]


def test_branches_choose_an_array():
    @tf.function
    def run(p):
        if p:
            ta = tf.TensorArray(F, 3, element_shape=[])
        else:
            ta = tf.TensorArray(F, 2, element_shape=[])
        return ta.stack()

    assert run(tf.constant(False)).numpy().tolist() == [0, 0]

    @tf.function
    def differ(p):
        if p:
            ta = tf.TensorArray(F, 3, element_shape=[])
        else:
            ta = tf.TensorArray(tf.int32, 2, element_shape=[])
        return ta.size()

    with pytest.raises(TypeError):
        differ(tf.constant(False))


def test_an_array_that_only_the_loop_makes():
    @tf.function
    def run(n):
        for _ in tf.range(n):
            ta = tf.TensorArray(F, 3, element_shape=[])
            ta = ta.write(0, 1.0)
        return ta.stack()

    with pytest.raises(ValueError):
        run(2)


def test_len_and_iteration():
    @tf.function
    def length():
        ta = tf.TensorArray(F, 3).unstack([1.0, 2.0, 3.0])
        return len(ta)

    assert int(length()) == 3

    @tf.function
    def total():
        result = 0.0
        for x in tf.TensorArray(F, 3).unstack([1.0, 2.0, 3.0]):
            result += x
        return result

    with warnings.catch_warnings(), pytest.raises(TypeError):
        warnings.simplefilter("ignore")  # of the array that nobody could use
        total()


def test_a_discarded_write_in_a_loop_is_said_so():
    @tf.function
    def run(n):
        ta = tf.TensorArray(F, 3, element_shape=[])
        for i in tf.range(n):
            ta.write(i, 1.0)  # lost
        return ta.stack()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run(3).numpy().tolist() == [0, 0, 0]
    line = run.python_function.__code__.co_firstlineno + 4
    assert {(w.filename, w.lineno) for w in caught} == {(__file__, line)}


def test_used_arrays_are_not_warned_of():
    @tf.function
    def run(n):
        ta = tf.TensorArray(F, 0, dynamic_size=True)
        last = None
        for i in tf.range(n):
            last = tf.cast(i, F)
            if i > 1:
                ta = ta.write(i, last)
        return ta.stack(), last

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack, last = run(4)
    assert stack.numpy().tolist() == [0, 0, 2, 3]
    assert float(last) == 3


def test_gradients_of_a_loop():
    @tf.function
    def run(x):
        ta = tf.TensorArray(F, 3)
        for i in tf.range(3):
            ta = ta.write(i, x * tf.cast(i, F))
        return tf.reduce_sum(ta.stack() ** 2)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x)
    assert float(y) == 20
    assert float(tape.gradient(y, x)) == 20


def test_gradients_of_a_recurrence():
    @tf.function
    def run(x, n):
        ta = tf.TensorArray(F, 0, dynamic_size=True, clear_after_read=False)
        ta = ta.write(0, x)
        for i in tf.range(1, n):
            ta = ta.write(i, ta.read(i - 1) * x)
        return tf.reduce_sum(ta.stack())

    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x, tf.constant(4))
    # x + x^2 + x^3 + x^4
    np.testing.assert_allclose(
        tape.gradient(y, x).numpy(), [1 + 2 * t + 3 * t**2 + 4 * t**3 for t in (2.0, 3.0)]
    )


def test_an_eager_array_changed_by_a_loop():  # TensorFlow refuses
    ta = tf.TensorArray(F, 3).write(0, 5.0)

    @tf.function
    def run(n):
        inner = ta
        for i in tf.range(1, n):
            inner = inner.write(i, tf.cast(i, F))
        return inner.stack()

    assert run(3).numpy().tolist() == [5, 1, 2]
    assert ta.stack().numpy().tolist() == [5, 0, 0]


def test_hand_made_control_flow():
    def loop():
        return tf.while_loop(
            lambda i, ta: i < 3,
            lambda i, ta: (i + 1, ta.write(i, tf.cast(i, F))),
            (tf.constant(0), tf.TensorArray(F, 3)),
        )[1].stack()

    assert loop().numpy().tolist() == [0, 1, 2]
    assert tf.function(loop)().numpy().tolist() == [0, 1, 2]

    @tf.function
    def branch(p):
        return tf.cond(
            p,
            lambda: tf.TensorArray(F, 3).write(0, 1.0),
            lambda: tf.TensorArray(F, 3).write(1, 1.0),
        ).stack()

    assert branch(tf.constant(True)).numpy().tolist() == [1, 0, 0]
    assert branch(tf.constant(False)).numpy().tolist() == [0, 1, 0]


def allocations(function, *arguments):
    before = _core.memory_statistics()["allocation_count"]
    function(*arguments)
    return _core.memory_statistics()["allocation_count"] - before


def autograph_loop(x, n):
    ta = tf.TensorArray(F, n + 1, clear_after_read=False)
    ta = ta.write(0, x)
    for i in tf.range(n):
        ta = ta.write(i + 1, ta.read(i) * 0.5 + 1.0)
    return ta.stack()


def while_loop(x, n):
    def body(i, ta):
        return i + 1, ta.write(i + 1, ta.read(i) * 0.5 + 1.0)

    ta = tf.TensorArray(F, n + 1, clear_after_read=False).write(0, x)
    return tf.while_loop(lambda i, ta: i < n, body, (tf.constant(0), ta))[1].stack()


@pytest.mark.parametrize("loop", [autograph_loop, while_loop])
def test_loops_over_arrays_do_not_allocate(loop):
    function = tf.function(loop)
    x = tf.zeros(8)
    few, many = tf.constant(2), tf.constant(100_000)
    allocations(function, x, few)
    assert allocations(function, x, many) == allocations(function, x, few)
    assert function(x, many).shape == [100_001, 8]
