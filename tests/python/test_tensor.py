"""Tensors as Python values. Expected texts and values were recorded from TensorFlow 2.21."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import graphwright as tf


def shows(tensor, text):
    assert repr(tensor) == text


@pytest.fixture
def vector():
    return tf.constant([1.0, 2.0])


@pytest.fixture
def matrix():
    return tf.constant([[1, 2], [3, 4]])


def test_types():
    tensor = tf.constant(1)
    assert type(tensor).__name__ == "EagerTensor"
    assert isinstance(tensor, tf.Tensor)
    assert not isinstance(tf.Variable(1), tf.Tensor)
    assert tf.is_tensor(tensor) and tf.is_tensor(tf.Variable(1)) and not tf.is_tensor(1)
    with pytest.raises(TypeError, match=r"Tensor\(\) takes no arguments"):
        tf.Tensor(1)


def test_text(vector):
    shows(tf.constant(0.1), "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>")
    shows(vector, "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>")
    assert str(vector) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert f"{tf.constant(1)}" == "1"
    assert f"{vector}" == "[1. 2.]"
    assert f"{tf.constant(1.5):.3f}" == "1.500"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{vector:.2f}"


def test_attributes(vector):
    assert vector.shape == [2] and vector.get_shape() == [2]
    assert vector.dtype == tf.float32
    assert vector.ndim == 1
    assert vector.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert vector._shape_tuple() == (2,) and vector._rank() == 1 and vector._num_elements() == 2
    for name in ("name", "value_index"):
        with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager"):
            getattr(vector, name)
    with pytest.raises(AttributeError, match="'EagerTensor' object has no attribute 'foo'"):
        vector.foo  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'astype'"):
        vector.astype  # noqa: B018
    vector.note = "attributes can be set"
    assert vector.note == "attributes can be set"
    vector.set_shape([None])
    with pytest.raises(ValueError, match=r"shape \(2,\) is not compatible with supplied shape"):
        vector.set_shape([3])
    with pytest.raises(NotImplementedError, match="numpy"):
        vector.eval()


def test_identity_and_life(vector):
    with pytest.raises(TypeError, match=r"Tensor is unhashable. Instead, use tensor.ref\(\)"):
        hash(vector)
    assert {vector.ref(): 1}[vector.ref()] == 1
    assert vector.ref().deref() is vector
    assert vector.ref() != tf.constant([1.0, 2.0]).ref()
    assert repr(vector.ref()).startswith("<Reference wrapping <tf.Tensor: shape=(2,)")
    alive = weakref.ref(vector + 0)
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int(tf.constant(2.7))", 2),
        ("int(tf.constant('12'))", 12),
        ("float(tf.constant(3))", 3.0),
        ("complex(tf.constant(1j))", 1j),
        ("complex(tf.constant(1))", 1 + 0j),
        ("bool(tf.constant([1]))", True),
        ("bool(tf.constant(''))", False),
        ("bool(tf.zeros([0]))", False),
        ("[1, 2, 3][tf.constant(1)]", 2),
        ("range(3)[tf.constant(1)]", 1),
        ("len(tf.constant([1, 2]))", 2),
        ("1 in [tf.constant(1)]", True),
        ("None == tf.constant(1)", False),
        ("tf.constant(1) != None", True),
    ],
)
def test_python_values(expression, expected):
    result = eval(expression)
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        ("int(tf.constant([1]))", TypeError, "only 0-dimensional arrays can be converted"),
        ("bool(tf.constant([1, 2]))", ValueError, "truth value of an array with more than one"),
        ("[1][tf.constant([0])]", TypeError, "only integer scalar arrays can be converted"),
        ("[1][tf.constant(0.0)]", TypeError, "only integer scalar arrays can be converted"),
        ("len(tf.constant(1))", TypeError, r"Scalar tensor has no `len\(\)`"),
        ("iter(tf.constant(1))", TypeError, "Cannot iterate over a scalar tensor."),
        ("tf.constant(1).gpu()", RuntimeError, "GPU:0 unknown device."),
    ],
)
def test_refused_python_values(expression, error, text):
    with pytest.raises(error, match=text):
        eval(expression)


def test_numpy(vector):
    array = vector.numpy()
    assert array.dtype == np.float32 and array.tolist() == [1.0, 2.0]
    array[0] = 7  # a copy
    assert float(vector[0]) == 1.0
    assert type(tf.constant(1).numpy()) is np.int32
    assert tf.constant("x").numpy() == b"x"
    assert tf.constant(["x", "yy"]).numpy().tolist() == [b"x", b"yy"]
    assert np.asarray(vector).dtype == np.float32
    assert np.array(vector, dtype=np.float64).dtype == np.float64
    assert np.from_dlpack(vector).tolist() == [1.0, 2.0]


def test_constants_are_snapshots():
    array = np.ones(3, np.float32)
    tensor = tf.constant(array)
    array[0] = 5
    assert tensor.numpy().tolist() == [1, 1, 1]


def test_copies(vector):
    assert copy.copy(vector) is vector
    deep = copy.deepcopy(vector)
    assert deep is not vector and deep.numpy().tolist() == [1.0, 2.0]
    for tensor in (vector, tf.constant(["a", "b"]), tf.constant(2, tf.bfloat16), tf.constant(True)):
        loaded = pickle.loads(pickle.dumps(tensor))
        assert loaded.dtype == tensor.dtype and np.array_equal(loaded, tensor)


def test_iteration(vector, matrix):
    assert [float(x) for x in vector] == [1.0, 2.0]
    assert [row.numpy().tolist() for row in matrix] == [[1, 2], [3, 4]]
    assert float(sum(vector)) == 3.0
    assert float(max(vector)) == 2.0
    first, second = matrix
    assert second.numpy().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a + 1", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("1 - a", "tf.Tensor(0, shape=(), dtype=int32)"),
        ("a + True", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("a / 2", "tf.Tensor(0.5, shape=(), dtype=float64)"),
        ("tf.constant(1, tf.int8) / 2", "tf.Tensor(0.5, shape=(), dtype=float32)"),
        ("-7 // a", "tf.Tensor(-7, shape=(), dtype=int32)"),
        ("tf.constant(-7) // 2", "tf.Tensor(-4, shape=(), dtype=int32)"),
        ("tf.constant(-7) % 3", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("2 ** a", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("b * np.float64(2)", "tf.Tensor([2. 4.], shape=(2,), dtype=float32)"),
        ("np.float64(2) * b", "tf.Tensor([2. 4.], shape=(2,), dtype=float32)"),
        ("np.array([1., 2.]) * b", "tf.Tensor([1. 4.], shape=(2,), dtype=float32)"),
        ("b + np.array([1, 2])", "tf.Tensor([2. 4.], shape=(2,), dtype=float32)"),
        ("a + np.array([2.0])", "tf.Tensor([3], shape=(1,), dtype=int32)"),
        ("a + [1, 2]", "tf.Tensor([2 3], shape=(2,), dtype=int32)"),
        ("b ** 2", "tf.Tensor([1. 4.], shape=(2,), dtype=float32)"),
        ("-a", "tf.Tensor(-1, shape=(), dtype=int32)"),
        ("abs(-b)", "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"),
        ("~tf.constant(True)", "tf.Tensor(False, shape=(), dtype=bool)"),
        ("tf.constant(True) & False", "tf.Tensor(False, shape=(), dtype=bool)"),
        ("tf.constant(True) | False", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("tf.constant(True) ^ True", "tf.Tensor(False, shape=(), dtype=bool)"),
        ("m @ m", "tf.Tensor(\n[[ 7 10]\n [15 22]], shape=(2, 2), dtype=int32)"),
        ("b < 1.5", "tf.Tensor([ True False], shape=(2,), dtype=bool)"),
        ("2 > a", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("b == [1, 2]", "tf.Tensor([ True  True], shape=(2,), dtype=bool)"),
        ("b == [1, 2, 3]", "tf.Tensor(False, shape=(), dtype=bool)"),
        ("b != [1, 2, 3]", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("[1] == a", "tf.Tensor([ True], shape=(1,), dtype=bool)"),
        (
            "np.array([1, 2]) == tf.constant([1, 3])",
            "tf.Tensor([ True False], shape=(2,), dtype=bool)",
        ),
        ("tf.constant(['a']) + 'b'", "tf.Tensor([b'ab'], shape=(1,), dtype=string)"),
        ("sum([a, a])", "tf.Tensor(2, shape=(), dtype=int32)"),
    ],
)
def test_operators(expression, text):
    a, b, m = tf.constant(1), tf.constant([1.0, 2.0]), tf.constant([[1, 2], [3, 4]])
    assert str(eval(expression, {"a": a, "b": b, "m": m, "np": np, "tf": tf})) == text


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("a + 1.5", tf.errors.InvalidArgumentError),
        ("a + b", tf.errors.InvalidArgumentError),
        ("a + tf.constant(2, tf.int64)", tf.errors.InvalidArgumentError),
        ("a + 'x'", tf.errors.InvalidArgumentError),
        ("a - 1.5", TypeError),
        ("1.5 + a", TypeError),
        ("a == 1.5", TypeError),
        ("a // 2.0", TypeError),
        ("a / 1.5", TypeError),
        ("b == 'x'", TypeError),
        ("a < 'x'", TypeError),
        ("a + None", ValueError),
        ("a + {}", ValueError),
        ("a == {}", ValueError),
        ("a // 0", tf.errors.InvalidArgumentError),
        ("a % 0", tf.errors.InvalidArgumentError),
        ("a ** -1", tf.errors.InvalidArgumentError),
        ("b + tf.constant([1., 2., 3.])", tf.errors.InvalidArgumentError),
        ("b @ b", tf.errors.InvalidArgumentError),
        ("tf.constant(True) + 1", tf.errors.InvalidArgumentError),
        ("tf.constant(True) & 1", TypeError),
        ("-tf.constant(True)", tf.errors.InvalidArgumentError),
        ("divmod(a, 2)", TypeError),
        ("pow(a, 2, 3)", TypeError),
        ("+a", TypeError),
    ],
)
def test_refused_operands(expression, error):
    with pytest.raises(error):
        eval(expression, {"a": tf.constant(1), "b": tf.constant([1.0, 2.0]), "tf": tf})


def test_errors_name_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        tf.constant([1, 2]) + tf.constant([1, 2, 3])
    assert str(info.value) == (
        "{{function_node __wrapped__AddV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} "
        "Incompatible shapes: [2] vs. [3] [Op:AddV2] name: "
    )
    assert info.value.error_code == tf.errors.INVALID_ARGUMENT
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        tf.constant(1) + 1.5
    assert str(info.value) == (
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a "
        "float tensor [Op:AddV2] name: "
    )


def test_right_operand_may_take_over():
    class Other:
        def __radd__(self, left):
            return "other"

    assert tf.constant(1) + Other() == "other"


def test_operators_with_large_python_ints():
    assert int(tf.constant(0, tf.int64) + 2**40) == 2**40
    assert float(tf.constant(0.0) + 2**24) == 2**24
    assert float(tf.constant(0.0, tf.float64) + (2**53 + 1)) == float(2**53 + 1)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("m[0]", [1, 2]),
        ("m[-1]", [3, 4]),
        ("m[0, 1]", 2),
        ("m[0][1]", 2),
        ("m[..., None]", [[[1], [2]], [[3], [4]]]),
        ("m[1:, ::2]", [[3]]),
        ("m[tf.constant(1)]", [3, 4]),
        ("m[tf.constant(1, tf.int64)]", [3, 4]),
        ("m[np.int64(1)]", [3, 4]),
        ("m[m > 2]", [3, 4]),
        ("m[[0, 1]]", 2),
        ("m[np.array([True, False])]", [[1, 2]]),
        ("m[None]", [[[1, 2], [3, 4]]]),
        ("m[tf.constant(0):2]", [[1, 2], [3, 4]]),
        ("m[1:tf.constant(2, tf.int64)]", [[3, 4]]),
        ("m[::-1]", [[3, 4], [1, 2]]),
        ("m[1, tf.newaxis, ...]", [[3, 4]]),
        ("m[5:]", []),
        ("tf.constant(1)[...]", 1),
    ],
)
def test_indexing(expression, expected):
    result = eval(expression, {"m": tf.constant([[1, 2], [3, 4]]), "np": np, "tf": tf})
    assert result.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        ("m[2]", tf.errors.InvalidArgumentError, "slice index 2 of dimension 0 out of bounds"),
        ("m[-3]", tf.errors.InvalidArgumentError, "of dimension 0 out of bounds"),
        ("m[0, 0, 0]", tf.errors.InvalidArgumentError, "input has only 2 dims"),
        ("m[::0]", tf.errors.InvalidArgumentError, r"strides\[0\] must be non-zero"),
        ("m[..., ...]", tf.errors.InvalidArgumentError, "Multiple ellipses"),
        ("tf.constant(1)[0]", tf.errors.InvalidArgumentError, "scalar input|only 0 dims"),
        ("m[1.5]", TypeError, "are valid indices, got 1.5"),
        ("m['x']", TypeError, "are valid indices, got 'x'"),
        ("m[:, 1.0:2]", TypeError, "are valid indices, got 1.0"),
        ("m[tf.constant([0, 1])]", TypeError, "are valid indices, got <tf.Tensor"),
        ("m[tf.constant(1, tf.int8)]", TypeError, "are valid indices"),
        ("m[True]", ValueError, "mask cannot be scalar"),
        ("m[tf.constant([True, False, True])]", ValueError, "incompatible"),
    ],
)
def test_refused_indices(expression, error, text):
    with pytest.raises(error, match=text):
        eval(expression, {"m": tf.constant([[1, 2], [3, 4]]), "tf": tf})


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tf.constant(1, shape=[2, 2])", "tf.Tensor(\n[[1 1]\n [1 1]], shape=(2, 2), dtype=int32)"),
        (
            "tf.constant([1, 2], shape=[2, 1])",
            "tf.Tensor(\n[[1]\n [2]], shape=(2, 1), dtype=int32)",
        ),
        ("tf.constant(1, 'float16')", "tf.Tensor(1.0, shape=(), dtype=float16)"),
        ("tf.constant(1, np.int64)", "tf.Tensor(1, shape=(), dtype=int64)"),
        ("tf.constant(2**40)", "tf.Tensor(1099511627776, shape=(), dtype=int64)"),
        ("tf.constant([])", "tf.Tensor([], shape=(0,), dtype=float32)"),
        (
            "tf.convert_to_tensor(1, dtype_hint=tf.float32)",
            "tf.Tensor(1.0, shape=(), dtype=float32)",
        ),
        (
            "tf.convert_to_tensor(1.5, dtype_hint=tf.int32)",
            "tf.Tensor(1.5, shape=(), dtype=float32)",
        ),
        (
            "tf.convert_to_tensor([[tf.constant(1), 2], [3, 4]])",
            "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)",
        ),
        ("tf.convert_to_tensor([tf.Variable(1), 2])", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
    ],
)
def test_conversion(expression, text):
    assert str(eval(expression)) == text


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("tf.constant([1, 2, 3], shape=[2, 2])", TypeError),
        ("tf.constant(tf.constant(1), dtype=tf.float32)", TypeError),
        ("tf.constant(1.5, tf.int32)", TypeError),
        ("tf.constant(None)", ValueError),
        ("tf.constant(2**64)", ValueError),
        ("tf.convert_to_tensor(tf.constant(1), dtype=tf.float32)", ValueError),
        ("tf.convert_to_tensor([1, 'a'])", ValueError),
        ("tf.convert_to_tensor([[1], [1, 2]])", ValueError),
        ("tf.convert_to_tensor(object())", ValueError),
    ],
)
def test_refused_conversion(expression, error):
    with pytest.raises(error):
        eval(expression)


def test_objects_that_become_tensors():
    class Celsius:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([20.0])

    assert tf.convert_to_tensor(Celsius()).numpy().tolist() == [20.0]
    assert (tf.constant([1.0]) + Celsius()).numpy().tolist() == [21.0]

    class Wrong:
        def __tf_tensor__(self, dtype=None, name=None):
            return 3

    with pytest.raises(TypeError, match="which is no tensor"):
        tf.convert_to_tensor(Wrong())


def test_static_values():
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(1) == 1


def test_threads_share_tensors():
    import threading

    tensor, failures = tf.constant(np.arange(64.0)), []

    def work():
        for _ in range(500):
            if float((tensor + tensor)[63]) != 126.0:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
