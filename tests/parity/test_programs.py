"""Small programs run by us and by TensorFlow in the same process; what they give must be the same.

A program takes the package as `tf` and returns values (tensors, arrays, texts, numbers, or lists,
tuples and dictionaries of them). Dtypes, shapes, texts and classes of errors must be equal, and
numbers equal to a few units in the last place.
"""

import numpy as np
import pytest

import graphwright

tensorflow = pytest.importorskip("tensorflow")

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def plain(value):
    """A value without any package's types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if type(value).__name__ == "IndexedSlices":
        return {"values": plain(value.values), "indices": plain(value.indices)}
    if hasattr(value, "numpy"):
        return value.numpy()
    return value


def outcome(function, package):
    try:
        return plain(function(package))
    except Exception as error:  # which class it is, is the outcome
        return type(error)


def same(ours, theirs):
    if isinstance(theirs, type):
        assert isinstance(ours, type), f"TensorFlow raises {theirs.__name__}; we returned {ours!r}"
        assert ours.__name__ == theirs.__name__
    elif isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            same(mine, other)
    elif isinstance(theirs, (np.ndarray, np.generic)):
        assert isinstance(ours, (np.ndarray, np.generic)), repr(ours)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if theirs.dtype.kind in "fc":
            precision = 4 * np.finfo(theirs.dtype).eps
            np.testing.assert_allclose(ours, theirs, rtol=precision, atol=precision)
        else:
            np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours == theirs


@program
def arithmetic(tf):
    a, b = tf.constant([[1.5, -2.0], [0.0, 4.0]]), tf.constant([3.0, -0.5])
    return [a + b, a - b, a * b, a / b, a // b, a % b, -a, abs(a), a**2, 2 * a, 1 / b, a @ a]


@program
def integer_arithmetic(tf):
    a, b = tf.constant([7, -7, 7, -7]), tf.constant([2, 2, -2, -2])
    return [a / b, a // b, a % b, a * b, tf.constant(-(2**31)) // -1]


@program
def integer_division_by_zero(tf):
    return tf.constant([1, 2]) // tf.constant([1, 0])


@program
def comparison(tf):
    a, b = tf.constant([1, 2, 3]), tf.constant([3, 2, 1])
    return [a < b, a <= b, a > b, a >= b, a == b, a != b, a == tf.constant([1, 2])]


@program
def mixed_dtypes(tf):
    return tf.constant(1) + tf.constant(1.5)


@program
def python_float_with_int_tensor(tf):
    return tf.constant(1) + 1.5


@program
def shapes_that_do_not_broadcast(tf):
    return tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])


@program
def numpy_scalars_do_not_widen(tf):
    return [tf.constant(1.0) + np.float64(2.0), np.float32(2.0) * tf.constant([1.0])]


@program
def printing(tf):
    values = [
        tf.constant(0.1),
        tf.constant([[1, 2], [3, 4]]),
        tf.constant("text"),
        tf.constant([True, False]),
        tf.constant([1e10, 1e-10, 0.5]),
        tf.zeros([0, 3]),
        tf.constant([b"a", b"\xff"]),
    ]
    return [[repr(value), str(value)] for value in values]


@program
def tanh_extremes(tf):
    return tf.tanh(tf.constant([0.0, -0.0, 1e-8, 1.0, -20.0, 1e30, float("inf"), float("nan")]))


@program
def sums(tf):
    a = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    sums_of = [tf.reduce_sum(a, axis) for axis in (None, 0, 1, -1, [0, 1], [])]
    return [*sums_of, tf.reduce_sum(a, 1, keepdims=True), tf.reduce_sum(tf.constant([1, 2]))]


@program
def sum_over_a_missing_axis(tf):
    return tf.reduce_sum(tf.constant([1.0]), axis=1)


@program
def slices(tf):
    a = tf.constant(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    return [
        a[0],
        a[:, 1],
        a[..., -1],
        a[::-1, 1:, ::2],
        a[:, None, 0],
        a[1, 2, 3],
        a[0:0],
        a[-1, -2:],
    ]


@program
def index_out_of_range(tf):
    return tf.constant([1, 2, 3])[5]


@program
def concat_and_split(tf):
    a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6]])
    parts = tf.split(tf.constant(np.arange(12.0)), 3)
    return [tf.concat([a, b], 0), tf.concat([a, a], 1), parts, tf.split(a, [1, 1], axis=1)]


@program
def where(tf):
    condition = tf.constant([[True, False], [False, True]])
    return [tf.where(condition), tf.where(condition, 1.0, 2.0)]


@program
def casts(tf):
    values = tf.constant([1.9, -1.9, float("nan")])
    return [tf.cast(values, tf.int32), tf.cast([0, 1, 2], tf.bool), tf.cast([1, 2], tf.float64)]


@program
def strings(tf):
    return tf.strings.join([tf.constant(["a", "b"]), "-", tf.constant(["c", "d"])], separator="/")


@program
def random_numbers(tf):
    tf.random.set_seed(7)
    first = [tf.random.uniform([3]), tf.random.uniform([2], seed=5)]
    second = tf.random.uniform([5], maxval=10, dtype=tf.int32, seed=1)
    return [*first, second, tf.random.uniform([3])]


def convolution_arguments():
    rng = np.random.default_rng(3)
    image = rng.integers(-3, 4, (2, 7, 6, 3)).astype(np.float32)
    kernel = rng.integers(-3, 4, (3, 2, 3, 4)).astype(np.float32)
    return image, kernel


@program
def convolutions(tf):
    image, kernel = map(tf.constant, convolution_arguments())
    results = []
    for strides, padding, dilations in [
        (1, "SAME", 1),
        (1, "VALID", 1),
        (2, "SAME", 1),
        ([1, 2, 1, 1], "VALID", 1),
        (1, "SAME", 2),
        (1, "VALID", [1, 2, 1, 1]),
        (1, [[0, 0], [1, 2], [3, 0], [0, 0]], 1),
    ]:
        results.append(tf.nn.conv2d(image, kernel, strides, padding, dilations=dilations))
    return results


@program
def convolution_gradients(tf):
    image, kernel = map(tf.constant, convolution_arguments())
    results = []
    for strides, padding in [(1, "SAME"), (2, "VALID"), (2, "SAME")]:
        with tf.GradientTape() as tape:
            tape.watch([image, kernel])
            loss = tf.reduce_sum(tf.nn.conv2d(image, kernel, strides, padding) ** 2)
        results.append(tape.gradient(loss, [image, kernel]))
    return results


@program
def variables(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign_add([0.5, 0.5])
    v.assign_sub([1.0, 0.0])
    return [v, v + 1, v[1], tf.reduce_sum(v), v.shape.as_list(), v.dtype.name]


@program
def gradients(tf):
    x = tf.constant([1.0, -2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * tf.tanh(x))
        z = tf.cast(x, tf.int32)
    return [tape.gradient(y, x), tape.gradient(z, x), tape.gradient(x, x)]


@program
def second_derivative(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    return [first, outer.gradient(first, x)]


@program
def gradient_twice_without_persistence(tf):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)


@program
def gather_from_a_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(v, [0, 2, 0]) * 2.0)
    return [tf.gather(v, [2, 0]), tape.gradient(loss, v)]


@program
def forward_mode(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as accumulator:
        y = tf.tanh(x) * x
    return accumulator.jvp(y)


@program
def staged_while(tf):
    @tf.function
    def collatz_steps(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    return [collatz_steps(tf.constant(27)), collatz_steps(tf.constant(1))]


@program
def gradient_through_a_while(tf):
    @tf.function
    def power(x, n):
        result = x
        i = tf.constant(1)
        while i < n:
            result = tf.tanh(result * x)
            i += 1
        return result

    x = tf.constant(0.7)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(5))
    return [y, tape.gradient(y, x)]


@program
def forward_mode_through_a_while(tf):
    @tf.function
    def power(x):
        result = x
        i = tf.constant(1)
        while i < 4:
            result = tf.tanh(result * x)
            i += 1
        return result

    x = tf.constant(0.7)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = power(x)
    return [y, accumulator.jvp(y)]


@program
def staged_for(tf):
    @tf.function
    def total(values):
        result = 0.0
        for value in values:
            if value > 0.0:
                result += value
        return result

    return total(tf.constant([1.0, -2.0, 3.5]))


@program
def traces(tf):
    traced = []

    @tf.function
    def f(x, scale=2):
        traced.append(x.shape)
        return x * scale

    results = [
        f(tf.constant(1.0), 2),
        f(tf.constant(2.0)),
        f(tf.constant([1.0])),
        f(tf.constant(1), 3),
    ]
    return [results, len(traced)]


@program
def effects_in_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        before = v * 1.0
        v.assign(v * 2.0)
        return before, v.read_value()

    return [f(tf.constant(2.0)), f(tf.constant(1.0)), v]


@program
def branch_that_leaves_a_name_undefined(tf):
    @tf.function
    def f(x):
        if x > 0:
            y = x
        return y

    return f(tf.constant(1))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_program(function):
    same(outcome(function, graphwright), outcome(function, tensorflow))
