"""tf.TensorArray inside functions: values, errors and nodes recorded from TensorFlow 2.21."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import tensor_array_programs

import graphwright as tf

RECORDED = json.loads(
    (Path(__file__).parent / "data" / "tensor_array_graphs.json").read_text(encoding="utf-8")
)
F = tf.float32
INVALID = tf.errors.InvalidArgumentError


def array(dtype=F, size=3, **options):
    return tf.TensorArray(dtype, size, **options)


def staged(function, *arguments):
    return tf.nest.map_structure(
        lambda x: x.numpy().tolist(), tf.function(function, autograph=False)(*arguments)
    )


@pytest.mark.parametrize("name", RECORDED)
def test_nodes(name):
    assert tensor_array_programs.nodes(tf, name) == RECORDED[name]


def test_reading_does_not_clear():
    def run():
        ta = array().write(0, 1.0)
        return ta.read(0), ta.read(0), ta.stack(), ta.read(1)

    assert staged(run) == (1, 1, [1, 0, 0], 0)
    assert staged(lambda: array(element_shape=[2]).read(0)) == [0, 0]


def test_versions_are_values():
    def run():
        ta = array()
        first = ta.write(0, 1.0)
        second = ta.write(0, 2.0)
        both = first.write(1, 5.0)
        return first.stack(), second.read(0), both.stack(), ta.size()

    assert staged(run) == ([1, 0, 0], 2, [1, 5, 0], 3)


def test_growing():
    def run():
        ta = array(dynamic_size=True).write(5, 1.0)
        return ta.stack(), ta.size()

    assert staged(run) == ([0, 0, 0, 0, 0, 1], 6)


def test_elements_of_differing_shapes():
    def run():
        ta = array(infer_shape=False).write(0, 1.0).write(1, [1.0])
        return ta.read(0), ta.read(1)

    assert staged(run) == (1, [1])


def test_gather_unstack_scatter_split():
    assert staged(lambda: array().unstack([1.0, 2.0, 3.0]).gather([2, 0])) == [3, 1]
    assert staged(lambda: array().unstack([1.0, 2.0, 3.0]).gather([])) == []
    assert staged(lambda: array().scatter([2, 0], [1.0, 2.0]).stack()) == [2, 0, 1]

    def fewer_rows():  # the size that was asked for is what size() says, as in TensorFlow
        ta = array().unstack([1.0, 2.0])
        return ta.size(), ta.read(1)

    assert staged(fewer_rows) == (3, 2)

    def pieces():
        ta = array(infer_shape=False).split([1.0, 2.0, 3.0], [1, 0, 2])
        return [ta.read(i) for i in range(3)], ta.concat()

    assert staged(pieces) == ([[1], [], [2, 3]], [1, 2, 3])


def test_empty_arrays():
    assert staged(lambda: array(size=0, element_shape=[2]).stack()) == []
    assert tf.function(lambda: array(size=0, element_shape=[2, 3]).concat())().shape == [0, 3]


ERRORS = {
    "read unwritten": (lambda: array().read(0), INVALID, "no list element is set"),
    "stack unwritten": (lambda: array().stack(), INVALID, "only contains uninitialized tensors"),
    "read -1": (lambda: array().write(0, 1.0).read(-1), INVALID, "element -1 in a list with 3"),
    "read 3": (lambda: array().write(0, 1.0).read(3), INVALID, "element 3 in a list with 3"),
    "write 3": (lambda: array().write(3, 1.0).stack(), INVALID, "modify element 3 in a list"),
    "write -1": (lambda: array().write(-1, 1.0).stack(), INVALID, "modify element -1 in a list"),
    "dtype": (lambda: array().write(0, tf.constant(1)).stack(), INVALID, "op elements int32"),
    "text": (lambda: array().write(0, "a").stack(), INVALID, "op elements string"),
    "shape": (
        lambda: array().write(0, 1.0).write(1, [1.0]).stack(),
        ValueError,
        r"saw \(1,\) but expected \(\)",
    ),
    "shapes differ": (
        lambda: array(infer_shape=False).write(0, 1.0).write(1, [1.0]).stack(),
        INVALID,
        "shapes differ",
    ),
    "element shape": (
        lambda: array(element_shape=[2]).write(0, [1.0]).stack(),
        ValueError,
        r"saw \(1,\) but expected \(2,\)",
    ),
    "no size": (lambda: tf.TensorArray(F).stack(), ValueError, "`size` must be provided"),
    "negative size": (
        lambda: array(size=-1, element_shape=[]).stack(),
        INVALID,
        "must be a non negative number, but got -1",
    ),
    "float size": (lambda: array(size=1.5).stack(), TypeError, "int32"),
    "int64 size": (
        lambda: array(size=tf.constant(2, tf.int64)).stack(),
        TypeError,
        "int64",
    ),
    "vector size": (lambda: array(size=[2]).stack(), TypeError, "num_elements"),
    "float flow": (
        lambda: tf.TensorArray(F, flow=tf.constant(1.0)).stack(),
        TypeError,
        "variant tensor, but received",
    ),
    "more rows": (
        lambda: array().unstack([1.0, 2.0, 3.0, 4.0]).stack(),
        INVALID,
        "expected a list with 3 elements but got a list with 4",
    ),
    "fewer rows": (
        lambda: array().unstack([1.0, 2.0]).stack(),
        INVALID,
        "expected a list with 3 elements but got a list with 2",
    ),
    "unstack a scalar": (lambda: array().unstack(1.0).stack(), INVALID, "at least a vector"),
    "gather outside": (
        lambda: array().unstack([1.0, 2.0, 3.0]).gather([3]),
        INVALID,
        "element 3 in a list with 3",
    ),
    "scatter lengths": (
        lambda: array().scatter([0, 1], [1.0]).stack(),
        INVALID,
        "saw: 2 vs. 1",
    ),
    "scatter negative": (lambda: array().scatter([-1], [1.0]).stack(), INVALID, "non-negative"),
    "split sum": (
        lambda: array().split([1.0, 2.0, 3.0], [1, 0, 1]).concat(),
        INVALID,
        "tensor: 3 Values used: 2",
    ),
    "split a scalar": (lambda: array().split(1.0, [1, 1, 1]).concat(), ValueError, "rank"),
    "split by a scalar": (lambda: array().split([1.0], 1).concat(), ValueError, "rank"),
    "concat scalars": (
        lambda: array().unstack([1.0, 2.0, 3.0]).concat(),
        ValueError,
        "scalars",
    ),
    "concat unwritten": (
        lambda: array(infer_shape=False).write(0, [[1.0]]).concat(),
        INVALID,
        "leading_dims has only 0 elements",
    ),
    "stack empty": (lambda: array(size=0).stack(), INVALID, "empty list"),
    "concat empty": (lambda: array(size=0).concat(), INVALID, "empty tensor list"),
    "grad": (lambda: array().grad("source"), NotImplementedError, "not supported"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    run, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        tf.function(run, autograph=False)()


def test_a_discarded_write_is_lost_and_said_so():
    def run():
        ta = array()
        ta.write(0, 1.0)  # THE LINE
        return ta.write(1, 2.0).stack()

    line = run.__code__.co_firstlineno + 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert staged(run) == [0, 2, 0]
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]
    assert "never used" in str(caught[0].message)

    def silenced():
        ta = array()
        ta.write(0, 1.0).mark_used()
        return ta.write(1, 2.0).stack()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert staged(silenced) == [0, 2, 0]


def test_a_failing_trace_warns_of_nothing():
    def run():
        ta = array().write(0, 1.0)
        ta = ta.write(1, [1.0])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError):
            staged(run)
    assert caught == []


# --- Across the border of functions ---


def test_an_array_is_a_result():
    made = tf.function(lambda: array(element_shape=[]).write(0, 3.0))()
    assert isinstance(made, tf.TensorArray)
    assert made.stack().numpy().tolist() == [3, 0, 0]
    assert made.read(0).numpy() == 3
    assert made.read(0).numpy() == 3
    changed = made.write(1, 4.0)
    assert changed.stack().numpy().tolist() == [3, 4, 0]
    assert made.stack().numpy().tolist() == [3, 0, 0]
    assert made.element_shape == []
    assert made.flow.dtype == tf.variant
    assert int(made.size()) == 3


def test_arrays_are_arguments():
    traces = []

    @tf.function
    def total(ta, scale):
        traces.append(ta.element_shape)
        return tf.reduce_sum(ta.stack()) * scale

    ta = array().unstack([1.0, 2.0, 3.0])
    assert float(total(ta, 2.0)) == 12
    assert float(total(array().unstack([5.0, 2.0, 3.0]), 2.0)) == 20
    assert len(traces) == 1  # TensorFlow traces again for each
    assert float(total(array().write(0, 1.0), 2.0)) == 2
    assert len(traces) == 2  # its element shape is known
    made = tf.function(lambda: array(element_shape=[]).write(0, 3.0))()
    assert float(total(made, 2.0)) == 6
    concrete = total.get_concrete_function(ta, 2.0)
    assert float(concrete(array().unstack([1.0, 1.0, 1.0]), 2.0)) == 6
    assert "TensorArraySpec" in repr(concrete.structured_input_signature)
    with pytest.raises(TypeError, match="must be a TensorArray of float32"):
        concrete(tf.constant(1.0), 2.0)


def test_what_a_function_writes_stays_its_own():
    @tf.function
    def change(ta):
        return ta.write(0, 9.0)

    ta = array().unstack([1.0, 2.0, 3.0])
    assert change(ta).stack().numpy().tolist() == [9, 2, 3]
    assert ta.stack().numpy().tolist() == [1, 2, 3]


def test_calls_inside_functions():
    @tf.function
    def inner(ta, x):
        return ta.write(1, x + 1.0), {"twice": x * 2.0}

    @tf.function
    def outer(x):
        ta, more = inner(array().write(0, x), x)
        return ta.stack(), more["twice"]

    stack, twice = outer(tf.constant(1.0))
    assert stack.numpy().tolist() == [1, 2, 0]
    assert float(twice) == 2


def test_an_eager_array_is_captured_as_a_table():
    ta = array().write(0, 1.0)
    assert tf.function(lambda: ta.stack())().numpy().tolist() == [1, 0, 0]
    assert tf.function(lambda x: ta.write(1, 2.0).read(1) + x)(tf.constant(3.0)).numpy() == 5
    with pytest.raises(TypeError, match="made outside of the function"):
        tf.function(lambda i: ta.read(i))(tf.constant(0))


def test_gradients():
    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            ta = array().write(0, x * x).write(1, x).write(0, x * 5.0)
            y = tf.reduce_sum(ta.stack() * [1.0, 2.0, 3.0]) + ta.read(1) * x
        return tape.gradient(y, x)

    assert float(gradient(tf.constant(2.0))) == 5 + 2 + 4

    @tf.function
    def rows(x):
        ta = array(size=2).unstack(x)
        return tf.reduce_sum(ta.gather([1, 0]) * [[1.0], [2.0]] + ta.concat()[0])

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = rows(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [[6, 2], [1, 1]])
