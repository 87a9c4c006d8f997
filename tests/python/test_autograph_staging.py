"""if, while and for on tensors become part of the graph; numbers are TensorFlow 2.21's."""

import functools

import numpy as np
import pytest

import graphwright as tf


def run(function, *arguments):
    """The values of the function, made a tf.function, on tensors."""
    tensors = [tf.constant(argument) for argument in arguments]
    return tf.nest.map_structure(lambda t: t.numpy(), tf.function(function)(*tensors))


def operations(function, *arguments):
    graph = tf.function(function).get_concrete_function(*map(tf.constant, arguments)).graph
    return [node.op for node in graph.as_graph_def().node]


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def fibonacci(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


def nested(n):
    total = 0
    for i in tf.range(n):
        j = 0
        while j < i:
            if j % 2 == 1:
                total += i * j
            j += 1
    return total


def breaks(n):
    total = 0
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        if i > 6:
            break
        total += i
    return total, i


def breaks_for(n):
    total = 0
    for i in tf.range(n):
        if i == 3:
            continue
        if i > 6:
            break
        total += i
    return total


def returns(n):
    if n > 10:
        return 1
    if n > 5:
        n = n * 2
    else:
        return 2
    return n


def returns_from_loops(n):
    for i in tf.range(n):
        j = 0
        while j < i:
            if i * j == 12:
                return i * 100 + j
            j += 1
    return -1


def ranges(n):
    up = 0
    for i in tf.range(1, n, 3):
        up = up * 10 + i
    down = 0
    for i in tf.range(n, 0, -2):
        down = down * 10 + i
    step = n - 6
    either = 0
    for i in tf.range(5, 5 + 3 * step, step):
        either = either * 10 + i
    return up, down, either


def rows(x):
    total = tf.zeros([2])
    for row in x:
        total = total * 2.0 + row
    return total


def undefined_before(n):
    i = 0
    while i < n:
        last = i * 10
        i += 1
    return last


def none_before(n):
    best = None
    for i in tf.range(n):
        best = i * 2
    return best


def loop_variable_after(n):
    for i in tf.range(n):
        pass
    return i


def structures(n):
    state = (1, {"a": 2.0, "b": [tf.constant([1, 2])]})
    for i in tf.range(n):
        number, mapping = state
        state = (number + i, {"a": mapping["a"] * 2, "b": [mapping["b"][0] + i]})
    return state


def expressions(a, b):
    x = a if a > b else b
    y = a > 0 and b > 0
    z = a > 0 or b > 0
    w = not a > b
    u = 0 < a < b
    return x, y, z, w, u


def growing(n):
    x = tf.constant([1])
    for i in tf.range(n):
        x = tf.concat([x, x + i], 0)
    return x


def closures(n):
    total = 0

    def sum_with(k):
        if k % 2 == 0:
            return total + k
        return total

    for i in tf.range(n):
        total = sum_with(i)
    return total


class Counter:
    def __init__(self):
        self.count = 0
        self.items = {"last": 0}


def attributes(n):
    counter = Counter()
    for i in tf.range(n):
        counter.count += i
        counter.items["last"] = i
    return counter.count, counter.items["last"]


def calls(n):
    return functools.partial(fibonacci, n)() + (lambda k: collatz(k) if k > 1 else 0)(n)


def same_object(n):
    f = np.abs
    mode = None
    for i in tf.range(n):
        f = np.abs
        if i > 1:
            mode = None
    return n if mode is None else -n


VALUES = [
    (collatz, (27,), 111),
    (collatz, (1,), 0),
    (fibonacci, (30,), 832040),
    (nested, (7,), 95),
    (breaks, (20,), (18, 7)),
    (breaks, (2,), (3, 2)),
    (breaks_for, (20,), 18),
    (returns, (11,), 1),
    (returns, (7,), 14),
    (returns, (3,), 2),
    (returns_from_loops, (20,), 403),
    (returns_from_loops, (3,), -1),
    (ranges, (8,), (147, 8642, 579)),
    (ranges, (4,), (1, 42, 531)),
    (rows, ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],), [15.0, 22.0]),
    (undefined_before, (4,), 30),
    (none_before, (4,), 6),
    (loop_variable_after, (5,), 4),
    (expressions, (3, 5), (5, True, True, True, True)),
    (expressions, (-3, -5), (-3, False, False, False, False)),
    (growing, (3,), [1, 1, 2, 2, 3, 3, 4, 4]),
    (closures, (7,), 12),
    (attributes, (5,), (10, 4)),
    (calls, (6,), 16),
    (same_object, (3,), 3),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), VALUES, ids=lambda p: "")
def test_values(function, arguments, expected):
    for got, wanted in zip(
        tf.nest.flatten(run(function, *arguments)),
        tf.nest.flatten(expected) if isinstance(expected, tuple) else [expected],
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)


def test_structures_are_carried():
    number, mapping = run(structures, 3)
    assert number == 4
    assert mapping["a"] == 16.0
    np.testing.assert_array_equal(mapping["b"][0], [4, 5])


def test_constructs_become_nodes():
    assert "StatelessWhile" in operations(collatz, 5)
    assert "StatelessIf" in operations(lambda x: x if x > 0 else -x, 1)
    assert "StatelessIf" in operations(returns, 1)


def test_a_range_is_counted_not_made():
    # Only the node itself, which nothing uses; the loop takes its inputs.
    def f(n):
        total = 0
        for i in tf.range(n):
            total += i
        return total

    graph = tf.function(f).get_concrete_function(tf.constant(3)).graph.as_graph_def()
    loop = next(node for node in graph.node if node.op == "StatelessWhile")
    assert not any("range:" in name or name == "range" for name in loop.input)


def test_python_conditions_stay_in_python():
    traced = []

    @tf.function
    def f(x, flag):
        i = 0
        while i < 3:
            traced.append(i)
            if flag:
                x = x + 1
            i += 1
        return x

    assert f(tf.constant(1), True).numpy() == 4
    assert traced == [0, 1, 2]
    assert "StatelessWhile" not in [
        node.op for node in f.get_concrete_function(tf.constant(1), True).graph.as_graph_def().node
    ]


def test_a_python_condition_is_evaluated_once_per_iteration():
    queue = [1, 2, 3]

    @tf.function
    def f(x):
        while queue.pop() != 1:
            x = x + 1
        return x

    assert f(tf.constant(0)).numpy() == 2
    assert queue == []


def test_both_branches_are_traced_for_a_constant():
    traced = []

    @tf.function
    def f():
        if tf.constant(True):
            traced.append("then")
        else:
            traced.append("else")

    f()
    assert traced == ["then", "else"]


def test_state_is_as_before_after_an_error():
    counter = Counter()

    @tf.function
    def f(n):
        while n > 0:
            counter.count = counter.count + 1
            raise ValueError("x")

    with pytest.raises(ValueError, match="in user code"):
        f(tf.constant(1))
    assert counter.count == 0


def test_loop_options():
    @tf.function
    def limited(n):
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=4)
            i += 1
        return i

    @tf.function
    def fixed(n):
        x = tf.constant([1])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, [i]], 0)
        return x

    assert limited(tf.constant(9)).numpy() == 4
    np.testing.assert_array_equal(fixed(tf.constant(3)).numpy(), [1, 0, 1, 2])


def test_effects_happen_on_the_path_taken():
    v = tf.Variable(0)

    @tf.function
    def f(n):
        for i in tf.range(n):
            if i % 2 == 0:
                v.assign_add(i)
            else:
                v.assign_sub(1)

    f(tf.constant(5))
    assert v.numpy() == 4


def test_gradients_go_through():
    @tf.function
    def f(x, n):
        y = x
        for i in tf.range(n):
            if i % 2 == 0:
                y = y * x
            else:
                y = y + x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(3))
    # ((x * x) + x) * x
    assert y.numpy() == 12.0
    assert tape.gradient(y, x).numpy() == 16.0


def test_eager_tensors_run_as_python():
    converted = tf.autograph.to_graph(collatz)
    assert int(converted(tf.constant(6))) == 8


def test_builtin_functions_on_tensors():
    def f(n, xs, flags):
        total = 0
        for i in range(n):
            total += i
        for i in range(2, n):
            total += i
        return (
            total,
            len(xs),
            float(n) / 2.0,
            int(xs[0]),
            max(xs),
            min(n, 3),
            all(flags),
            any(flags),
        )

    got = run(f, 4, [1.5, 2.5], [True, False])
    assert got == (11, 2, 2.0, 1, 2.5, 3, False, True)
    assert run(lambda n: len(list(range(3))) + n, 1) == 4
    assert run(f, -4, [1.5, 2.5], [True, True])[0] == 0


def test_length_that_is_not_known():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        return len(x)

    assert f(tf.constant([1.0, 2.0, 3.0])).numpy() == 3


def test_assertions():
    @tf.function
    def f(n, limit):
        assert limit < 10, "a Python value"
        assert n < limit, "too large"
        return n

    assert f(tf.constant(1), 5).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        f(tf.constant(7), 5)
    with pytest.raises(AssertionError, match="a Python value"):
        f(tf.constant(7), 50)


def names(function, *arguments):
    graph = tf.function(function).get_concrete_function(*map(tf.constant, arguments)).graph
    return [node.name for node in graph.as_graph_def().node]


def test_nodes_are_tensorflows():
    """Names of the nodes that TensorFlow 2.21 makes, in its order."""

    def over_range(n):
        s = 0
        for i in tf.range(n):
            s += i
        return s

    loop = ["while/maximum_iterations", "while/loop_counter", "while", "Identity"]
    length = "sub floordiv mod zeros_like NotEqual Cast add zeros_like_1 Maximum".split()
    start = ["n", "range/start", "range/delta", "range"]
    assert names(over_range, 3) == [*start, *length, "Const", *loop]

    def over_rows(x):
        t = tf.zeros([2])
        for r in x:
            t = t + r
        return t

    array = ["TensorArrayV2/element_shape", "TensorArrayV2/num_elements", "TensorArrayV2"]
    unstack = "TensorArrayUnstack/TensorListFromTensor"
    array += [f"{unstack}/element_shape", unstack]
    assert names(over_rows, [[1.0, 2.0]]) == ["x", "zeros", *array, "Const", *loop]
    assert names(lambda x: x if x > 0 else -x, 1) == [
        "x",
        "Greater/y",
        "Greater",
        "cond",
        "cond/Identity",
        "Identity",
    ]


def test_gradients_go_through_rows():
    @tf.function
    def f(x):
        y = tf.constant(1.0)
        for row in x:
            y = y * tf.reduce_sum(row)
        return y

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 21.0
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [[7.0, 7.0], [3.0, 3.0]])


def test_a_python_loop_goes_on_in_the_graph():
    def endless(n):
        i = 0
        while True:
            i += 1
            if i * i > n:
                break
        return i

    def endless_return(n):
        i = 0
        while True:
            i += 1
            if i * i > n:
                return i * 100

    assert [int(run(endless, k)) for k in (0, 1, 50)] == [1, 2, 8]
    assert [int(run(endless_return, k)) for k in (0, 1, 50)] == [100, 200, 800]


def test_break_and_return_on_tensors_in_loops_over_python_values():
    def breaks_early(n):
        total = 0
        for k in [1, 2, 3, 4]:
            if total > n:
                break
            total += k
        return total

    def returns_early(n):
        for k in [1, 2, 3]:
            if n == k:
                return k * 10
        return -1

    assert [int(run(breaks_early, k)) for k in (-1, 0, 2, 50)] == [0, 1, 3, 10]
    assert [int(run(returns_early, k)) for k in (1, 3, 7)] == [10, 30, -1]
