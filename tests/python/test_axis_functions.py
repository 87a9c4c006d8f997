"""Functions along an axis, grids, padding by reflection and bits: TensorFlow 2.21's results."""

import numpy as np
import pytest

import graphwright as tf
from graphwright.errors import InvalidArgumentError

# Expression, and what TensorFlow 2.21 gives: dtype, shape and elements, eagerly and staged.
VALUES = [
    ("tf.cumsum([1.,2,3])", ("float32", [3], [1.0, 3.0, 6.0])),
    ("tf.cumsum([[1,2],[3,4]],1,exclusive=True)", ("int32", [2, 2], [[0, 1], [0, 3]])),
    ("tf.cumsum([1,2,3],reverse=True)", ("int32", [3], [6, 5, 3])),
    ("tf.cumsum([1,2,3],reverse=True,exclusive=True)", ("int32", [3], [5, 3, 0])),
    ("tf.math.cumprod([2.,3,4],exclusive=True,reverse=True)", ("float32", [3], [12.0, 4.0, 1.0])),
    ("tf.math.cumprod([[2,3],[4,5]],axis=-1)", ("int32", [2, 2], [[2, 6], [4, 20]])),
    ("tf.cumsum(tf.constant([1,2],tf.uint8))", ("uint8", [2], [1, 3])),
    ("tf.sort([3.,1,2])", ("float32", [3], [1.0, 2.0, 3.0])),
    ("tf.sort([[3,1],[2,9]],axis=0,direction='DESCENDING')", ("int32", [2, 2], [[3, 9], [2, 1]])),
    ("tf.argsort([3,1,2,1])", ("int32", [4], [1, 3, 2, 0])),
    ("tf.argsort([1.,1.,2.],direction='DESCENDING')", ("int32", [3], [2, 0, 1])),
    ("tf.sort(tf.constant([3,250,1],tf.uint8))", ("uint8", [3], [1, 3, 250])),
    ("tf.sort(tf.constant([-128,127,0],tf.int8))", ("int8", [3], [-128, 0, 127])),
    ("tf.math.top_k([1.,5,3,5],2)", [("float32", [2], [5.0, 5.0]), ("int32", [2], [1, 3])]),
    (
        "tf.math.top_k([[1,2,3],[9,8,7]])",
        [("int32", [2, 1], [[3], [9]]), ("int32", [2, 1], [[2], [0]])],
    ),
    ("tf.roll([1,2,3,4],1,0)", ("int32", [4], [4, 1, 2, 3])),
    ("tf.roll([[1,2,3],[4,5,6]],[1,-1],[0,1])", ("int32", [2, 3], [[5, 6, 4], [2, 3, 1]])),
    ("tf.roll([1,2,3,4],[1,5],[0,0])", ("int32", [4], [3, 4, 1, 2])),
    ("tf.repeat([1,2,3],2)", ("int32", [6], [1, 1, 2, 2, 3, 3])),
    ("tf.repeat([[1,2],[3,4]],[1,3],axis=0)", ("int32", [4, 2], [[1, 2], [3, 4], [3, 4], [3, 4]])),
    (
        "tf.repeat([[1,2],[3,4]],3,axis=1)",
        ("int32", [2, 6], [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]),
    ),
    ("tf.repeat([[1,2],[3,4]],2)", ("int32", [8], [1, 1, 2, 2, 3, 3, 4, 4])),
    ("tf.repeat([1,2],[0,0])", ("int32", [0], [])),
    (
        "tf.meshgrid([1,2,3],[4,5])",
        [("int32", [2, 3], [[1, 2, 3], [1, 2, 3]]), ("int32", [2, 3], [[4, 4, 4], [5, 5, 5]])],
    ),
    (
        "tf.meshgrid([1,2,3],[4,5],indexing='ij')",
        [("int32", [3, 2], [[1, 1], [2, 2], [3, 3]]), ("int32", [3, 2], [[4, 5], [4, 5], [4, 5]])],
    ),
    ("tf.meshgrid(1,[2,3])", [("int32", [2, 1], [[1], [1]]), ("int32", [2, 1], [[2], [3]])]),
    ("tf.meshgrid()", []),
    (
        "tf.pad([[1,2,3],[4,5,6]],[[1,1],[2,2]],'REFLECT')",
        (
            "int32",
            [4, 7],
            [
                [6, 5, 4, 5, 6, 5, 4],
                [3, 2, 1, 2, 3, 2, 1],
                [6, 5, 4, 5, 6, 5, 4],
                [3, 2, 1, 2, 3, 2, 1],
            ],
        ),
    ),
    (
        "tf.pad([[1,2,3],[4,5,6]],[[1,1],[2,2]],'symmetric')",
        (
            "int32",
            [4, 7],
            [
                [2, 1, 1, 2, 3, 3, 2],
                [2, 1, 1, 2, 3, 3, 2],
                [5, 4, 4, 5, 6, 6, 5],
                [5, 4, 4, 5, 6, 6, 5],
            ],
        ),
    ),
    ("tf.pad(['a','b'],[[1,0]],'REFLECT')", ("string", [3], [b"b", b"a", b"b"])),
    ("tf.linspace(0.,10.,5)", ("float32", [5], [0.0, 2.5, 5.0, 7.5, 10.0])),
    (
        "tf.linspace([0.,1.],[1.,3.],3,axis=-1)",
        ("float32", [2, 3], [[0.0, 0.5, 1.0], [1.0, 2.0, 3.0]]),
    ),
    ("tf.linspace([0.,1.],[1.,3.],3)", ("float32", [3, 2], [[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]])),
    ("tf.linspace(0,7,4)", ("float64", [4], [0.0, 2.3333333333333335, 4.666666666666667, 7.0])),
    ("tf.linspace(2.,3.,1)", ("float32", [1], [2.0])),
    ("tf.linspace(2.,3.,2)", ("float32", [2], [2.0, 3.0])),
    ("tf.linspace(0.,1.,0)", ("float32", [0], [])),
    (
        "tf.linspace(tf.constant(0.,tf.float64),1.,7)",
        (
            "float64",
            [7],
            [
                0.0,
                0.16666666666666666,
                0.3333333333333333,
                0.5,
                0.6666666666666666,
                0.8333333333333333,
                1.0,
            ],
        ),
    ),
    (
        "tf.linspace(0.,1.,11)",
        (
            "float32",
            [11],
            [
                0.0,
                0.10000000149011612,
                0.20000000298023224,
                0.30000001192092896,
                0.4000000059604645,
                0.5,
                0.6000000238418579,
                0.699999988079071,
                0.800000011920929,
                0.9000000357627869,
                1.0,
            ],
        ),
    ),
    ("tf.meshgrid([[1,2]],[1])", [("int32", [1, 2], [[1, 2]]), ("int32", [1, 2], [[1, 1]])]),
    ("tf.bitwise.bitwise_and([12,5],[10,3])", ("int32", [2], [8, 1])),
    ("tf.bitwise.bitwise_or(tf.constant([12],tf.uint8),10)", ("uint8", [1], [14])),
    ("tf.bitwise.bitwise_xor([12],[10])", ("int32", [1], [6])),
    ("tf.bitwise.invert(tf.constant([0,5],tf.int8))", ("int8", [2], [-1, -6])),
    ("tf.constant([12,5])&3", ("int32", [2], [0, 1])),
    ("5|tf.constant([8])", ("int32", [1], [13])),
    ("tf.constant([True,False])^True", ("bool", [2], [False, True])),
    ("~tf.constant([0,7],tf.uint16)", ("uint16", [2], [65535, 65528])),
]

# Expression, and the class of error, eagerly and staged.
REFUSED = [
    ("tf.random.stateless_uniform([3],[1,2],1,4000000000,tf.uint32)", "ValueError", "ValueError"),
    ("tf.math.top_k([1.,2.],5)", "InvalidArgumentError", "ValueError"),
    ("tf.math.top_k(1.)", "InvalidArgumentError", "ValueError"),
    ("tf.math.top_k([1.],-1)", "InvalidArgumentError", "ValueError"),
    ("tf.sort([1,2],direction='up')", "ValueError", "ValueError"),
    ("tf.sort([1,2],axis=3)", "InvalidArgumentError", "ValueError"),
    ("tf.sort(['a'])", "InvalidArgumentError", "TypeError"),
    ("tf.sort([1j])", "InvalidArgumentError", "TypeError"),
    ("tf.argsort([True])", "InvalidArgumentError", "TypeError"),
    ("tf.cumsum([1.],axis=2)", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.cumsum(['a'])", "InvalidArgumentError", "TypeError"),
    ("tf.cumsum(3.)", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.roll([1,2],1,3)", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.roll(1,1,0)", "InvalidArgumentError", "ValueError"),
    ("tf.roll([1,2],[1,2],0)", "InvalidArgumentError", "ValueError"),
    ("tf.repeat([1,2],[1,2,3])", "ValueError", "ValueError"),
    ("tf.repeat([1,2],2,axis=4)", "ValueError", "ValueError"),
    ("tf.pad([1,2],[[2,0]],'REFLECT')", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.pad([1,2],[[3,0]],'SYMMETRIC')", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.pad([1,2],[[-1,0]],'SYMMETRIC')", "InvalidArgumentError", "ValueError"),
    ("tf.pad([1,2],[[1,0]],'NEAREST')", "ValueError", "ValueError"),
    ("tf.meshgrid([1],[2],indexing='zz')", "ValueError", "ValueError"),
    ("tf.meshgrid([1],foo=3)", "TypeError", "TypeError"),
    ("tf.random.stateless_uniform([2],[1])", "InvalidArgumentError", "ValueError"),
    (
        "tf.random.stateless_uniform([2],[1,2],3,1,tf.int32)",
        "InvalidArgumentError",
        "InvalidArgumentError",
    ),
    ("tf.random.stateless_uniform([2],[1,2],dtype=tf.int32)", "ValueError", "ValueError"),
    ("tf.random.stateless_uniform([2],[1.,2])", "InvalidArgumentError", "TypeError"),
    ("tf.random.stateless_uniform([2],[1,2],dtype=tf.string)", "ValueError", "ValueError"),
    ("tf.random.stateless_normal([-1],[1,2])", "InvalidArgumentError", "InvalidArgumentError"),
    ("tf.random.stateless_normal([2],[1,2],alg='foo')", "ValueError", "ValueError"),
    ("tf.random.stateless_normal([2],[1,2],dtype=tf.int32)", "TypeError", "TypeError"),
    ("tf.constant([1.])&tf.constant([1.])", "InvalidArgumentError", "TypeError"),
    ("tf.constant([1])&tf.constant([1],tf.int64)", "InvalidArgumentError", "TypeError"),
    ("~tf.constant([1.])", "InvalidArgumentError", "TypeError"),
]


def told(value):
    """dtype, shape and elements of tensors, in lists."""
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    return value.dtype.name, value.shape.as_list(), value.numpy().tolist()


def both_tiers(expression):
    eager = eval(expression)
    return eager, tf.function(lambda: eval(expression), autograph=False)()


@pytest.mark.parametrize(
    ("expression", "expected"), VALUES, ids=lambda x: x if isinstance(x, str) else ""
)
def test_values(expression, expected):
    for value in both_tiers(expression):
        assert told(value) == expected


ERRORS = {
    "InvalidArgumentError": InvalidArgumentError,
    "TypeError": TypeError,
    "ValueError": ValueError,
}


@pytest.mark.parametrize(("expression", "eager", "staged"), REFUSED)
def test_errors(expression, eager, staged):
    with pytest.raises(ERRORS[eager]):
        eval(expression)
    with pytest.raises(ERRORS[staged]):
        tf.function(lambda: eval(expression), autograph=False)()


def numeric_gradient(function, x, step=1e-3):
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        moved[i] += step
        high = function(tf.constant(moved)).numpy()
        moved[i] -= 2 * step
        gradient[i] = (high - function(tf.constant(moved)).numpy()) / (2 * step)
    return gradient


WEIGHTS = "tf.reshape(tf.range(tf.size(y), dtype=tf.float64), tf.shape(y)) + 1.0"


@pytest.mark.parametrize(
    "expression",
    [
        "tf.cumsum(x, 1)",
        "tf.cumsum(x, 0, exclusive=True, reverse=True)",
        "tf.math.cumprod(x, 1)",
        "tf.math.cumprod(x, 0, exclusive=True)",
        "tf.roll(x, [1, -2], [0, 1])",
        "tf.repeat(x, [1, 0, 3], axis=1)",
        "tf.repeat(x, 2)",
        "tf.sort(x, axis=0)",
        "tf.sort(x, direction='DESCENDING')",
        "tf.math.top_k(x, 2).values",
        "tf.pad(x, [[1, 0], [2, 1]], 'REFLECT')",
        "tf.pad(x, [[2, 1], [0, 3]], 'SYMMETRIC')",
        "tf.linspace(x, x * x, 4, axis=1)",
        "tf.meshgrid(x[0], x[1])[1]",
        "tf.tensor_scatter_nd_sub(x, [[0], [0]], x * 2.0)",
        "tf.tensor_scatter_nd_max(x, [[0, 1], [1, 2]], x[0, :2] * 1.5)",
        "tf.tensor_scatter_nd_min(x, [[0, 1], [1, 2]], x[0, :2] * 1.5)",
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_gradients(expression, staged):
    def weighted(x):
        y = eval(expression)
        return tf.reduce_sum(y * (eval(WEIGHTS, {"tf": tf, "y": y})))

    function = tf.function(weighted, autograph=False) if staged else weighted
    x = np.array([[1.5, -0.5, 2.0], [0.7, 3.0, 1.1]])
    value = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(value)
        y = function(value)
    np.testing.assert_allclose(
        tape.gradient(y, value), numeric_gradient(function, x), rtol=1e-5, atol=1e-9
    )
    with tf.autodiff.ForwardAccumulator(value, tf.ones_like(value)) as forward:
        y = function(value)
    np.testing.assert_allclose(forward.jvp(y), numeric_gradient(function, x).sum(), rtol=1e-5)


def test_shapes_in_graphs():
    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([2], tf.int32)])
    def shapes(x, sizes):
        return (
            tf.cumsum(x, 1),
            tf.sort(x, 0),
            tf.math.top_k(x, 2).values,
            tf.roll(x, 1, 0),
            tf.pad(x, [[1, 1], [2, 0]], "REFLECT"),
            tf.random.stateless_uniform(sizes, [1, 2]),
        )

    concrete = shapes.get_concrete_function()
    assert [shape.as_list() for shape in concrete.output_shapes] == [
        [None, 3],
        [None, 3],
        [None, 2],
        [None, 3],
        [None, 5],
        [None, None],
    ]
    results = shapes(tf.ones([4, 3]), [2, 5])
    assert [value.shape.as_list() for value in results] == [
        [4, 3],
        [4, 3],
        [4, 2],
        [4, 3],
        [6, 5],
        [2, 5],
    ]
