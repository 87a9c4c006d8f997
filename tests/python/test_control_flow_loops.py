"""tf.while_loop by hand: values, nodes and errors as recorded from TensorFlow 2.21."""

import collections
import functools

import numpy as np
import pytest

import graphwright as tf

FLOAT = tf.TensorSpec([], tf.float32)
INT = tf.TensorSpec([], tf.int32)
Pair = collections.namedtuple("Pair", "a b")


def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def nodes(function, *specs):
    graph = traced(function, *specs).graph.as_graph_def()
    lists = [[f"{n.op} {n.name} {' '.join(n.input)}".strip() for n in graph.node]]
    for inner in sorted(graph.library.function, key=lambda f: f.signature.name):
        lists.append([f"{n.op} {n.name} {' '.join(n.input)}".strip() for n in inner.node_def])
    return lists


def test_nodes():
    top, body, condition = nodes(
        lambda x: tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a * x), [0, x]), FLOAT
    )
    assert top == [
        "Placeholder x",
        "Const Const",
        "Const while/maximum_iterations",
        "Const while/loop_counter",
        "StatelessWhile while while/loop_counter while/maximum_iterations Const x x",
        "Identity Identity while:2",
        "Identity Identity_1 while:3",
    ]
    assert condition == [
        "Const while/Less/y",
        "Less while/Less while_placeholder while/Less/y:output:0",
        "Identity while/Identity while/Less:z:0",
    ]
    assert body == [
        "Const while/add/y",
        "AddV2 while/add while_placeholder while/add/y:output:0",
        "Mul while/mul while_placeholder_1 while_mul_x_0",
        "Const while/add_1/y",
        "AddV2 while/add_1 while_while_loop_counter while/add_1/y:output:0",
        "Identity while/Identity while/add_1:z:0",
        "Identity while/Identity_1 while_while_maximum_iterations",
        "Identity while/Identity_2 while/add:z:0",
        "Identity while/Identity_3 while/mul:z:0",
    ]


def test_maximum_iterations_names_and_options():
    def count(n, x):
        return tf.while_loop(
            lambda i, a: i < 10,
            lambda i, a: (i + 1, a * x),
            (tf.constant(0), x),
            maximum_iterations=n,
            name="lp",
            parallel_iterations=3,
        )

    function = traced(count, INT, FLOAT)
    for limit, iterations in ((4, 4), (0, 0), (20, 10)):
        i, a = function(tf.constant(limit), tf.constant(2.0))
        assert int(i) == iterations and float(a) == 2.0 ** (iterations + 1)
    top = nodes(count, INT, FLOAT)[0]
    assert top[2:5] == [
        "Const Const",
        "Const lp/loop_counter",
        "StatelessWhile lp lp/loop_counter n Const x x",
    ]
    node = next(n for n in function.graph.as_graph_def().node if n.op == "StatelessWhile")
    assert node.attr["parallel_iterations"].i == 3
    stopped = nodes(
        lambda x: tf.while_loop(
            lambda i: i < 10, lambda i: i + 1, [x], maximum_iterations=5, back_prop=False
        ),
        FLOAT,
    )[0]
    assert stopped[-2:] == ["StopGradient StopGradient while:2", "Identity Identity StopGradient"]
    with pytest.raises(ValueError, match="maximum_iterations"):
        traced(count, tf.TensorSpec([], tf.int64), FLOAT)
    with pytest.raises(ValueError, match="maximum_iterations"):
        traced(count, FLOAT, FLOAT)


def test_structures():
    x = tf.constant(3.0)

    def run(function):
        return tf.function(function, autograph=False)(x)

    assert isinstance(run(lambda x: tf.while_loop(lambda a: a < 10, lambda a: a + 1, [x])), list)
    assert isinstance(
        run(lambda x: tf.while_loop(lambda a, b: a < 9, lambda a, b: [a + 1, b], (x, 1))), tuple
    )
    result = run(lambda x: tf.while_loop(lambda a, b: a < 10, lambda a, b: (a + 1, b), Pair(x, 1)))
    assert isinstance(result, Pair) and float(result.a) == 10
    result = run(
        lambda x: tf.while_loop(lambda p: p.a < 10, lambda p: [Pair(p.a + 1, p.b)], (Pair(x, 1),))
    )
    assert isinstance(result[0], Pair) and float(result[0].a) == 10
    result = run(
        lambda x: tf.while_loop(
            lambda d: d["a"] < 10, lambda d: [{"a": d["a"] + 1, "b": d["b"]}], [{"b": 1, "a": x}]
        )
    )
    assert float(result[0]["a"]) == 10 and int(result[0]["b"]) == 1
    # No variables at all: only what is captured decides.
    assert run(lambda x: tf.while_loop(lambda: x < 0, lambda: (), [])) == []


def test_tensor_arrays_are_carried():
    def squares(n):
        def body(i, array):
            return i + 1, array.write(i, tf.cast(i * i, tf.float32))

        array = tf.TensorArray(tf.float32, size=n)
        _, array = tf.while_loop(lambda i, _: i < n, body, (tf.constant(0), array))
        return array.stack()

    assert squares(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]
    function = tf.function(squares, autograph=False)
    assert function(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]
    branch = tf.function(
        lambda p: tf.cond(
            p,
            lambda: tf.TensorArray(tf.int32, 2).unstack([1, 2]),
            lambda: tf.TensorArray(tf.int32, 2).unstack([3, 4]),
        ).stack(),
        autograph=False,
    )
    assert branch(tf.constant(False)).numpy().tolist() == [3, 4]


def test_shape_invariants():
    def grow(x, **options):
        return tf.while_loop(
            lambda a, b: a < 3,
            lambda a, b: (a + 1, tf.concat([b, b], 0)),
            [x, tf.ones([2])],
            **options,
        )

    with pytest.raises(
        ValueError, match=r"enters the loop with shape \(2,\), but has shape \(4,\)"
    ):
        traced(grow, FLOAT)
    for invariants in (
        [tf.TensorShape([]), tf.TensorShape([None])],
        [None, tf.TensorSpec([None])],
    ):
        grown = functools.partial(grow, shape_invariants=invariants)
        function = traced(grown, FLOAT)
        assert function.outputs[1].shape.as_list() == [None]
        assert function(tf.constant(0.0))[1].shape == (16,)
    with pytest.raises(ValueError, match="same number of elements"):
        traced(lambda x: grow(x, shape_invariants=[tf.TensorShape([])]), FLOAT)
    with pytest.raises(ValueError, match="is a sequence"):
        traced(lambda x: grow(x, shape_invariants=[tf.TensorShape([]), [None]]), FLOAT)
    with pytest.raises(TypeError, match="TypeSpec, TensorShape or None"):
        traced(lambda x: grow(x, shape_invariants=[tf.TensorShape([]), 3]), FLOAT)
    with pytest.raises(ValueError, match=r"enters the loop with shape \(None,\), but has shape"):
        traced(
            lambda x: tf.while_loop(
                lambda a, b: a < 3,
                lambda a, b: (a + 1, tf.ones([3, 3])),
                [x, tf.ones([2])],
                shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
            ),
            FLOAT,
        )


@pytest.mark.parametrize(
    ("body", "error", "text"),
    [
        (lambda a, b: a + 1, ValueError, "same number of elements"),
        (lambda a, b: (a + 1, b, b), ValueError, "same number of elements"),
        (lambda a, b: (a + 1, [b]), ValueError, "is a sequence"),
        (lambda a, b: (a + 1, tf.cast(b, tf.float32)), TypeError, "enters the loop with type"),
        (lambda a, b: (a + 1, object()), TypeError, "type object"),
        (lambda a: a, TypeError, "positional argument"),
    ],
)
def test_bodies_that_do_not_fit(body, error, text):
    with pytest.raises(error, match=text):
        traced(lambda x: tf.while_loop(lambda a, b: a < 10, body, (x, 1)), FLOAT)


def test_other_errors():
    with pytest.raises(TypeError, match="'cond' must be callable"):
        tf.while_loop(1, int, [1])
    with pytest.raises(TypeError, match="'body' must be callable"):
        tf.while_loop(int, 2, [1])
    with pytest.raises(TypeError, match="'parallel_iterations' must be a positive integer"):
        tf.while_loop(int, int, [1], parallel_iterations=0)
    with pytest.raises(TypeError, match="not supported between"):
        tf.while_loop(int, int, [1], parallel_iterations="a")
    with pytest.raises(ValueError, match="'loop_vars' must be provided"):
        tf.while_loop(lambda: True, lambda: 0, [])
    with pytest.raises(TypeError, match="len"):
        traced(lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + 1, x), FLOAT)
    with pytest.raises(ValueError, match="None values not supported"):
        traced(lambda x: tf.while_loop(lambda a, b: a > 0, lambda a, b: (a, b), [x, None]), FLOAT)
    with pytest.raises(ValueError):
        traced(lambda x: tf.while_loop(lambda a: None, lambda a: a, [x]), FLOAT)


def test_eager_loops():
    assert int(tf.while_loop(lambda i: i < 10, lambda i: (i + 1,), [0])[0]) == 10
    result = tf.while_loop(lambda i: i < 10, lambda i: [i + 1], (0,))
    assert isinstance(result, list) and int(result[0]) == 10
    result = tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [0], maximum_iterations=4)
    assert int(result[0]) == 4
    never = tf.while_loop(lambda i: False, lambda i: i, [0])
    assert tf.is_tensor(never[0])
    # Eager loops may change dtypes and shapes.
    assert float(tf.while_loop(lambda i: i < 10, lambda i: [i + 1.5], [1])[0]) == 10.0
    grown = tf.while_loop(
        lambda i: tf.size(i) < 10, lambda i: [tf.concat([i, i], 0)], [tf.ones([2])]
    )
    assert grown[0].shape == (16,)
    for arguments, error in (
        (dict(maximum_iterations=[4]), ValueError),
        (dict(maximum_iterations=4), TypeError),  # a list stays a list
    ):
        with pytest.raises(error):
            tf.while_loop(lambda i: i < 10, lambda i: (i + 1,), [0], **arguments)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
    with pytest.raises(ValueError, match="same number of elements"):
        tf.while_loop(lambda i, j: i < 10, lambda i, j: (i + 1, j, j), [0, 1])
    with pytest.raises(ValueError, match="ambiguous"):
        tf.while_loop(lambda i: i < 10, lambda i: [i + 1], [tf.constant([1, 2])])


def test_variables_and_effects_in_loops(capfd):
    v = tf.Variable(3.0)

    @tf.function(autograph=False)
    def run(n):
        def body(i, total):
            tf.print("step", i)
            v.assign_add(1.0)
            return i + 1, total + v

        return tf.while_loop(lambda i, _: i < n, body, [0, v])

    i, total = run(tf.constant(2))
    assert int(i) == 2 and float(total) == 3 + 4 + 5 and float(v) == 5
    assert capfd.readouterr().err == "step 0\nstep 1\n"


def test_nested_loops():
    @tf.function(autograph=False)
    def run(n):
        def outer(i, total):
            _, total = tf.while_loop(
                lambda j, _: j < i, lambda j, t: (j + 1, t + i * j), (tf.constant(0), total)
            )
            return i + 1, total

        return tf.while_loop(lambda i, _: i < n, outer, (tf.constant(0), tf.constant(0)))[1]

    assert int(run(tf.constant(6))) == sum(i * j for i in range(6) for j in range(i))


def test_gradients_through_loops():
    def power(x, n):
        return tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a * x), (tf.constant(0), tf.constant(1.0))
        )[1]

    for function in (power, tf.function(power, autograph=False)):
        x = tf.constant(1.3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, tf.constant(5))
        assert float(tape.gradient(y, x)) == pytest.approx(5 * 1.3**4, rel=1e-5)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            tangent = accumulator.jvp(function(x, tf.constant(5)))
        assert float(tangent) == pytest.approx(5 * 1.3**4, rel=1e-5)
    stopped = tf.function(
        lambda x: tf.while_loop(lambda a: a < 10, lambda a: a * x, [x], back_prop=False)[0],
        autograph=False,
    )
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = stopped(x)
    assert tape.gradient(y, x) is None


def test_loop_from_autograph_and_by_hand_agree():
    @tf.function
    def converted(n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total = total * 1.5 + tf.cast(i, tf.float32)
        return total

    @tf.function(autograph=False)
    def by_hand(n):
        return tf.while_loop(
            lambda i, _: i < n,
            lambda i, t: (i + 1, t * 1.5 + tf.cast(i, tf.float32)),
            (tf.constant(0), tf.constant(0.0)),
        )[1]

    assert np.array_equal(converted(tf.constant(20)).numpy(), by_hand(tf.constant(20)).numpy())


@pytest.mark.parametrize("limit", [-1, -5, 0])
def test_a_limit_below_zero_allows_no_iteration(limit):
    def count(given):
        return tf.while_loop(
            lambda i: i < 10,
            lambda i: i + 1,
            [tf.constant(0)],
            None,
            10,
            True,
            maximum_iterations=given,
        )[0]

    assert int(count(limit)) == 0
    assert int(tf.function(lambda: count(limit))()) == 0
    assert int(tf.function(lambda: count(tf.constant(limit)))()) == 0


@pytest.mark.parametrize("given", [None, [], tf.constant(0)])
def test_eager_loops_need_variables(given):
    with pytest.raises(ValueError, match="must be provided"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, given)
