"""tf.function: traces, keys, signatures, variables, methods, structures.

Expected texts and counts are TensorFlow 2.21's.
"""

import collections
import gc
import threading
import weakref

import numpy as np
import pytest

import graphwright as tf


def traced_with(log):
    """A function that notes each trace."""

    @tf.function
    def f(x):
        log.append(x if not isinstance(x, tf.Tensor) else str(x))
        return x

    return f


def test_one_trace_per_dtype_and_shape():
    log = []
    f = traced_with(log)
    f(tf.constant(1))
    f(tf.constant(2))
    assert log == ['Tensor("x:0", shape=(), dtype=int32)']
    f(tf.constant(1.0))
    f(tf.constant([1, 2]))
    f(tf.constant([3, 4]))
    assert log[1:] == [
        'Tensor("x:0", shape=(), dtype=float32)',
        'Tensor("x:0", shape=(2,), dtype=int32)',
    ]
    assert f.experimental_get_tracing_count() == 3


def test_python_values_are_part_of_the_key():
    log = []
    f = traced_with(log)
    for value in (1, 1, True, 1.0, "a", b"a", None, 2, (1, 2), [1, 2], (1, 2)):
        f(value)
    assert log == [1, True, 1.0, "a", b"a", None, 2, (1, 2), [1, 2]]
    # A trace for each, so that nobody gets the result of another type's call.
    assert f(1.0).dtype == tf.float32
    assert f(1).dtype == tf.int32
    assert f(True).dtype == tf.bool


def test_numpy_values_are_tensors():
    log = []
    f = traced_with(log)
    f(np.float32(2))
    f(np.float32(3))
    f(np.ones(3))
    assert log == [
        'Tensor("x:0", shape=(), dtype=float32)',
        'Tensor("x:0", shape=(3,), dtype=float64)',
    ]


def test_defaults_and_keywords_share_a_trace():
    count = []

    @tf.function
    def f(x, y=2, *, z=3):
        count.append(1)
        return x + y + z

    one = tf.constant(1)
    assert f(one).numpy() == 6
    assert f(one, 2).numpy() == 6
    assert f(x=one, y=2).numpy() == 6
    assert f(one, z=3).numpy() == 6
    assert len(count) == 1
    assert f(one, z=4).numpy() == 7
    assert len(count) == 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda f: f(), "missing a required argument: 'x'"),
        (lambda f: f(1, 2), "too many positional arguments"),
        (lambda f: f(1, q=3), "got an unexpected keyword argument 'q'"),
        (lambda f: f(1, x=3), "multiple values for argument 'x'"),
    ],
)
def test_binding_errors(call, text):
    @tf.function
    def f(x):
        return x

    with pytest.raises(TypeError, match="Binding inputs to tf.function failed due to") as caught:
        call(f)
    assert text in str(caught.value)


def test_unhashable_arguments_are_refused():
    log = []
    f = traced_with(log)
    with pytest.raises(TypeError, match="Could not generate a generic TraceType for"):
        f({1, 2})
    assert log == []


def test_objects_are_compared_by_identity_and_held_weakly():
    class Thing:
        pass

    count = []

    @tf.function
    def f(thing):
        count.append(1)
        return tf.constant(1)

    thing = Thing()
    f(thing)
    f(thing)
    assert len(count) == 1
    f(Thing())
    assert len(count) == 2
    dead = weakref.ref(thing)
    del thing
    gc.collect()
    assert dead() is None
    for _ in range(5):  # a new object at an old address is a new object
        f(Thing())
    assert len(count) == 7


def test_structures_in_and_out():
    Point = collections.namedtuple("Point", "x y")

    @tf.function
    def f(p, d):
        return {"sum": p.x + p.y, "list": [d["a"], None, 3]}, Point(d["b"], (1.0, "s"))

    out = f(Point(tf.constant(1), tf.constant(2)), {"b": tf.constant([5.0]), "a": tf.constant(7)})
    assert isinstance(out, tuple)
    assert out[0]["sum"].numpy() == 3
    assert out[0]["list"][0].numpy() == 7
    assert out[0]["list"][1] is None
    assert out[0]["list"][2].numpy() == 3
    assert isinstance(out[1], Point)
    assert out[1].x.numpy() == [5.0]
    assert out[1].y[1].numpy() == b"s"


def test_a_result_that_is_no_tensor_is_refused():
    @tf.function
    def f():
        return object()

    with pytest.raises(TypeError, match="Python functions must return zero or more Tensors"):
        f()


def test_input_signature_casts_values_but_not_tensors():
    count = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        count.append(1)
        return x * 2

    assert f([1, 2]).numpy().tolist() == [2.0, 4.0]
    assert f(np.array([1.0, 2.0, 3.0])).numpy().tolist() == [2.0, 4.0, 6.0]
    assert f(tf.constant([1.0])).numpy().tolist() == [2.0]
    assert len(count) == 1
    with pytest.raises(TypeError):
        f(tf.constant([1, 2]))
    with pytest.raises(TypeError):
        f(tf.constant(1.0))
    assert f.input_signature == (tf.TensorSpec([None], tf.float32),)


def test_reduce_retracing_makes_the_second_trace_general():
    shapes = []

    def body(x):
        shapes.append(x.shape.as_list())
        return x

    exact = tf.function(body)
    for n in (1, 2, 3, 4):
        exact(tf.zeros([n]))
    assert shapes == [[1], [2], [3], [4]]
    shapes.clear()
    relaxed = tf.function(body, reduce_retracing=True)
    for n in (1, 2, 3, 4):
        assert relaxed(tf.zeros([n])).shape == [n]
    assert shapes == [[1], [None]]


def test_concrete_functions():
    @tf.function
    def f(x, y=2):
        return x + y

    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.int32))
    assert concrete(tf.constant([1, 2])).numpy().tolist() == [3, 4]
    assert concrete(x=tf.constant([1])).numpy().tolist() == [3]
    assert concrete.structured_input_signature == (
        (tf.TensorSpec([None], tf.int32, name="x"), 2),
        {},
    )
    assert [str(t) for t in concrete.outputs] == [
        'Tensor("Identity:0", shape=(None,), dtype=int32)'
    ]
    assert concrete.output_dtypes == tf.int32
    # A later call that it covers needs no trace of its own.
    assert f(tf.constant([5, 6, 7])).numpy().tolist() == [7, 8, 9]
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError):
        concrete(tf.constant([1.0]))
    with pytest.raises(TypeError):
        concrete()
    assert f.get_concrete_function(tf.constant([1])) is not None


def test_variables_are_arguments_by_position_of_first_use():
    count = []

    @tf.function
    def f(v, w):
        count.append(1)
        v.assign_add(1.0)
        return v + w

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert f(a, b).numpy() == 12.0
    assert f(b, a).numpy() == 13.0
    assert len(count) == 1
    assert f(a, a).numpy() == 6.0
    assert len(count) == 2


def test_captured_variables_are_read_at_every_call():
    v = tf.Variable(1)

    @tf.function
    def f():
        return v + 1

    assert f().numpy() == 2
    v.assign(5)
    assert f().numpy() == 6


def test_a_variable_is_made_once():
    class Count(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = None
            self.traces = 0

        @tf.function
        def __call__(self, start):
            self.traces += 1
            if self.count is None:
                self.count = tf.Variable(start * 2)
            return self.count.assign_add(1)

    c = Count()
    assert c(tf.constant(5)).numpy() == 11
    assert c(tf.constant(5)).numpy() == 12
    assert c.traces == 2  # the trace that makes the variable, and the one that runs

    @tf.function
    def bad():
        return tf.Variable(1.0)

    with pytest.raises(ValueError, match="only supports singleton tf.Variables"):
        bad()


def test_methods_have_a_function_per_instance():
    class Model:
        def __init__(self, k):
            self.k = k
            self.traces = 0

        @tf.function
        def scaled(self, x):
            self.traces += 1
            return x * self.k

    a, b = Model(2), Model(3)
    x = tf.constant(5)
    assert (a.scaled(x).numpy(), b.scaled(x).numpy(), a.scaled(x).numpy()) == (10, 15, 10)
    assert (a.traces, b.traces) == (1, 1)
    assert Model(7).scaled(x).numpy() == 35  # a temporary lives as long as its call
    dead = weakref.ref(a)
    del a
    gc.collect()
    assert dead() is None


def test_captured_tensors_by_size():
    small, large = tf.range(128), tf.range(129)

    @tf.function
    def f():
        return tf.reduce_sum(small) + tf.reduce_sum(large)

    assert f().numpy() == 128 * 127 // 2 + 129 * 128 // 2
    ops = [row[1] for row in f.get_concrete_function().graph._operation_rows()]
    assert ops.count("Placeholder") == 1


def test_unused_pure_ops_do_not_run_and_effects_do():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        tf.constant(1) // x  # would fail for 0, but nobody uses it
        v.assign_add(1)
        return x

    f(tf.constant(0))
    f(tf.constant(0))
    assert v.numpy() == 2


def test_functions_call_functions():
    @tf.function
    def inner(x):
        return x * 2

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1)

    assert outer(tf.constant(3)).numpy() == 14
    assert inner.experimental_get_tracing_count() == 1


def test_a_leaked_tensor_is_out_of_scope():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x + 1)
        return x

    f(tf.constant(1))

    @tf.function
    def g(y):
        return y + leaked[0]

    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        g(tf.constant(1))
    with pytest.raises(AttributeError, match="'SymbolicTensor' object has no attribute 'numpy'"):
        leaked[0].numpy()


def test_init_scope_is_eager():
    seen = []

    @tf.function
    def f():
        assert not tf.executing_eagerly()
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
            seen.append((tf.constant(1) + 1).numpy())
        return tf.constant(0)

    f()
    assert seen == [True, 2]
    assert tf.executing_eagerly()


def test_an_error_while_tracing_leaves_no_trace_behind():
    fail = [True]

    @tf.function
    def f(x):
        if fail[0]:
            raise KeyError("first")
        return x

    with pytest.raises(KeyError):
        f(tf.constant(1))
    assert tf.executing_eagerly()
    fail[0] = False
    assert f(tf.constant(1)).numpy() == 1


def test_shape_and_dtype_errors_while_tracing():
    @tf.function
    def shapes():
        return tf.zeros([2]) + tf.zeros([3])

    @tf.function
    def dtypes():
        return tf.constant(1) + tf.constant(1.0)

    with pytest.raises(ValueError):
        shapes()
    with pytest.raises(TypeError):
        dtypes()


def test_run_functions_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x

    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    f(tf.constant(1))
    assert seen == [True, True, False]


def test_threads_trace_and_call():
    @tf.function
    def f(x):
        return x * 2

    errors = []

    def work(k):
        try:
            for n in range(1, 20):
                assert f(tf.fill([n], k)).numpy().tolist() == [2 * k] * n
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert f.experimental_get_tracing_count() == 19


def test_attributes_of_the_python_function_show_through():
    @tf.function
    def named(x):
        """Doc."""
        return x

    assert named.__name__ == "named"
    assert named.__doc__ == "Doc."
    assert named.python_function.__name__ == "named"
    assert callable(named)


def test_structures_that_contain_themselves_are_refused():
    @tf.function
    def f(x):
        return tf.constant(1)

    endless: list = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        f(endless)
    deep = tf.constant(1)
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(RecursionError):
        f(deep)
    assert f(1).numpy() == 1


def test_numpy_text_is_a_tensor_and_any_text_a_key():
    @tf.function
    def f(x):
        return x

    assert f(np.str_("abc")).numpy() == b"abc"
    assert f(np.bytes_(b"abc")).numpy() == b"abc"

    @tf.function
    def g(x):
        return tf.constant(len(x))

    assert g("\ud800").numpy() == 1


def test_input_signatures_are_walked_by_their_structure():
    @tf.function(
        input_signature=[
            {"a": tf.TensorSpec([None], tf.float32), "b": [tf.TensorSpec([], tf.int32)]}
        ]
    )
    def f(d):
        return tf.reduce_sum(d["a"]) * 2, d["b"][0]

    assert [t.numpy() for t in f({"a": [1, 2], "b": [3]})] == [6.0, 3]
    assert [t.numpy() for t in f({"b": [tf.constant(1)], "a": tf.constant([1.0])})] == [2.0, 1]
    assert f.experimental_get_tracing_count() == 1
    for wrong in ({"a": [1.0]}, {"a": [1.0], "b": (3,)}, {"a": [1.0], "b": [3, 4]}, [1.0]):
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed due to"):
            f(wrong)


def test_input_signatures_fit_the_parameters():
    one = tf.TensorSpec([], tf.float32)
    with pytest.raises(TypeError, match="input_signature contains 1 extra type constraints"):
        tf.function(lambda x: x, input_signature=[one, one])(1.0)
    with pytest.raises(TypeError, match="input_signature missing type constraint for y"):
        tf.function(lambda x, y: x, input_signature=[one])(1.0, 2.0)
    f = tf.function(lambda x, y=2.0: x + y, input_signature=[one])
    assert f(1.0, 2.0).numpy() == 3.0
    with pytest.raises(TypeError, match="Can not cast 3.0 to Literal"):
        f(1.0, 3.0)


def test_arguments_must_not_be_modified():
    @tf.function
    def f(items):
        items.append(tf.constant(5))
        return items

    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        f([tf.constant(1)])


def test_failed_traces_are_not_counted():
    fail = [True]

    @tf.function
    def f(x):
        if fail[0]:
            raise RuntimeError
        return x

    for _ in range(3):
        with pytest.raises(RuntimeError):
            f(tf.constant(1))
    fail[0] = False
    f(tf.constant(1))
    assert f.experimental_get_tracing_count() == 1


def test_errors_of_hashing_come_through():
    class Bad:
        def __hash__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tf.function(lambda x: tf.constant(1))(Bad())


def test_a_function_is_collected_with_what_it_refers_to():
    class Big:
        pass

    def make():
        big = Big()

        @tf.function
        def f(x):
            assert f is not None  # a cycle through its own closure
            assert big is not None
            return x + 1

        f(tf.constant(1))
        return weakref.ref(big)

    dead = make()
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize("place", ["loop", "branch", "callee"])
def test_variables_made_inside_control_flow_and_callees(place):
    made: list = []

    def variable():
        if not made:
            made.append(tf.Variable(2.0))
        return made[0]

    @tf.function
    def loop(n):
        i, total = 0, 0.0
        while i < n:
            total += variable()
            i += 1
        return total

    @tf.function
    def branch(n):
        if n > 0:  # noqa: SIM108
            y = variable() * tf.cast(n, tf.float32)
        else:
            y = 0.0
        return y

    @tf.function
    def callee(n):
        return inner(tf.cast(n, tf.float32))

    @tf.function
    def inner(x):
        return x * variable()

    f = {"loop": loop, "branch": branch, "callee": callee}[place]
    assert f(tf.constant(3)).numpy() == 6.0
    made[0].assign(5.0)
    assert f(tf.constant(3)).numpy() == 15.0
