"""tf.Variable and tf.Module. Expected texts and values were recorded from TensorFlow 2.21."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import graphwright as tf


@pytest.fixture
def scalar():
    return tf.Variable(1)


@pytest.fixture
def matrix():
    return tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")


def test_text(scalar, matrix):
    assert repr(scalar) == "<tf.Variable 'Variable:0' shape=() dtype=int32, numpy=1>"
    assert str(matrix) == (
        "<tf.Variable 'w:0' shape=(2, 2) dtype=float32, numpy=\n"
        "array([[1., 2.],\n       [3., 4.]], dtype=float32)>"
    )
    assert repr(scalar.assign_add(2)) == (
        "<tf.Variable 'UnreadVariable' shape=() dtype=int32, numpy=3>"
    )
    assert f"{scalar}" == repr(scalar)
    assert repr(tf.Variable([1, 2], shape=tf.TensorShape(None))) == (
        "<tf.Variable 'Variable:0' shape=<unknown> dtype=int32, numpy=array([1, 2], dtype=int32)>"
    )


def test_attributes(matrix):
    assert isinstance(matrix, tf.Variable) and type(matrix).__name__ == "ResourceVariable"
    assert matrix.name == "w:0"
    assert matrix.shape == [2, 2] and matrix.get_shape() == [2, 2] and matrix.ndim == 2
    assert matrix.dtype == tf.float32
    assert matrix.trainable and not tf.Variable(1.0, trainable=False).trainable
    assert matrix.constraint is None
    assert matrix.synchronization == tf.VariableSynchronization.AUTO
    assert matrix.aggregation == tf.VariableAggregation.NONE
    assert matrix.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert matrix.handle.dtype == tf.resource
    assert bool(matrix.is_initialized())
    assert tf.Variable(1.0, name="").name == ":0"
    with pytest.raises(AttributeError, match="ResourceVariable' object has no attribute 'foo'"):
        matrix.foo  # noqa: B018
    with pytest.raises(RuntimeError):
        matrix.initial_value  # noqa: B018
    matrix.note = "attributes can be set"
    assert matrix.note == "attributes can be set"


def test_initial_values():
    assert tf.Variable(lambda: 3).numpy() == 3
    assert tf.Variable([1, 2], dtype=tf.float32).dtype == tf.float32
    assert tf.Variable(np.array([1, 2])).dtype == tf.int64
    assert tf.Variable(tf.Variable(7)).numpy() == 7
    assert tf.Variable("x").numpy() == b"x"
    with pytest.raises(ValueError, match="`initial_value` arg to `tf.Variable` must be specified"):
        tf.Variable()
    with pytest.raises(TypeError, match=r"Cannot convert 1.5 to EagerTensor of dtype int32"):
        tf.Variable(1.5, dtype=tf.int32)
    with pytest.raises(ValueError, match="initial_value: Tensor conversion requested dtype"):
        tf.Variable(tf.constant(1), dtype=tf.float32)
    with pytest.raises(ValueError, match="is not compatible with the explicitly supplied"):
        tf.Variable([1, 2], shape=[3])
    with pytest.raises(ValueError, match="`constraint` argument must be a callable"):
        tf.Variable(1, constraint=3)


def test_initial_value_is_a_snapshot():
    array = np.ones(3, np.float32)
    variable = tf.Variable(array)
    array[0] = 5
    assert variable.numpy().tolist() == [1, 1, 1]
    tensor = tf.constant([1.0, 2.0])
    variable = tf.Variable(tensor)
    variable.assign_add([1.0, 1.0])
    assert tensor.numpy().tolist() == [1, 2]
    before = variable.read_value()
    variable.assign_add([1.0, 1.0])
    assert before.numpy().tolist() == [2, 3]


def test_assignment(matrix):
    assert matrix.assign([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    matrix.assign(np.zeros((2, 2)))
    assert matrix.assign_add(tf.ones([2, 2])).numpy().tolist() == [[1, 1], [1, 1]]
    assert matrix.assign_sub([[1.0, 0.0], [0.0, 0.0]], read_value=False) is None
    assert matrix.numpy().tolist() == [[0, 1], [1, 1]]
    grown = tf.Variable([1, 2], shape=[None])
    assert grown.assign([1, 2, 3]).shape.as_list() == [None]
    assert grown.read_value().shape == [3]


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        ("w.assign(3.0)", ValueError, r"Cannot assign value to variable ' w:0': Shape mismatch"),
        ("w.assign_add(1.0)", tf.errors.InvalidArgumentError, "shapes must be equal"),
        ("v.assign(1.5)", TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
        ("v.assign_add(1.5)", TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
        ("v.assign('x')", TypeError, "Cannot convert 'x' to EagerTensor of dtype int32"),
        (
            "v.assign(tf.constant(1, tf.int64))",
            ValueError,
            "Tensor conversion requested dtype int32",
        ),
        ("v.assign()", TypeError, "assign"),
        ("hash(v)", TypeError, r"Variable is unhashable. Instead, use variable.ref\(\) as the key"),
        ("len(v)", TypeError, r"object of type 'ResourceVariable' has no len\(\)|has no len"),
    ],
)
def test_refused(expression, error, text, scalar, matrix):
    with pytest.raises(error, match=text):
        eval(expression, {"v": scalar, "w": matrix, "tf": tf})
    assert scalar.numpy() == 1 and matrix.numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("v + 1", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("1 + v", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("v + v", "tf.Tensor(2, shape=(), dtype=int32)"),
        ("v == 1", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("v < tf.constant(5)", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("-v", "tf.Tensor(-1, shape=(), dtype=int32)"),
        ("w[0]", "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"),
        ("w[0, 1]", "tf.Tensor(2.0, shape=(), dtype=float32)"),
        ("w @ w", "tf.Tensor(\n[[ 7. 10.]\n [15. 22.]], shape=(2, 2), dtype=float32)"),
        ("np.array([1, 2], np.float32) + w[0]", "tf.Tensor([2. 4.], shape=(2,), dtype=float32)"),
        ("tf.tanh(tf.Variable(0.0))", "tf.Tensor(0.0, shape=(), dtype=float32)"),
        ("w.sparse_read([1])", "tf.Tensor([[3. 4.]], shape=(1, 2), dtype=float32)"),
        ("tf.convert_to_tensor(v)", "tf.Tensor(1, shape=(), dtype=int32)"),
    ],
)
def test_values(expression, text, scalar, matrix):
    assert str(eval(expression, {"v": scalar, "w": matrix, "np": np, "tf": tf})) == text


def test_as_python_value(scalar, matrix):
    assert int(scalar) == 1 and float(scalar) == 1.0 and bool(scalar)
    assert np.asarray(matrix).tolist() == [[1, 2], [3, 4]]
    assert [row.numpy().tolist() for row in matrix] == [[1, 2], [3, 4]]
    assert scalar.ref() == scalar.ref() and scalar.ref() != tf.Variable(1).ref()


def test_rows(matrix):
    slices = type("Slices", (), {"indices": tf.constant([1]), "values": tf.constant([[1.0, 1.0]])})
    matrix.scatter_add(slices)
    assert matrix.numpy().tolist() == [[1, 2], [4, 5]]
    matrix.scatter_sub(slices)
    matrix.scatter_update(slices)
    assert matrix.numpy().tolist() == [[1, 2], [1, 1]]
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        matrix.scatter_add(3)


def test_assignment_to_slices(matrix):
    assert repr(matrix[0].assign([9.0, 8.0])) == (
        "<tf.Variable 'UnreadVariable' shape=(2, 2) dtype=float32, numpy=\n"
        "array([[9., 8.],\n       [3., 4.]], dtype=float32)>"
    )
    matrix[1, 0].assign(7.0)
    matrix[:, 1:].assign([[0.0], [1.0]])
    assert matrix.numpy().tolist() == [[9, 0], [7, 1]]

    @tf.function(autograph=False)
    def staged(i):
        matrix[i].assign(tf.zeros([2]))

    staged(tf.constant(0))
    assert matrix.numpy().tolist() == [[0, 0], [7, 1]]
    with pytest.raises(AttributeError, match="no attribute 'assign'"):
        tf.constant([1.0])[0].assign(1.0)
    with pytest.raises(TypeError):
        matrix[0].assign("x")


def test_copies(matrix):
    loaded = pickle.loads(pickle.dumps(matrix))
    deep = copy.deepcopy(matrix)
    for other in (loaded, deep):
        assert other is not matrix and other.name == "w:0"
        assert other.numpy().tolist() == [[1, 2], [3, 4]]
        other.assign_add(tf.ones([2, 2]))
    assert matrix.numpy().tolist() == [[1, 2], [3, 4]]


def test_subclasses():
    class Counter(tf.Variable):
        def __init__(self):
            super().__init__(0, name="counter", trainable=False)
            self.owner = self  # a cycle that only the collector breaks

        def next(self):
            return int(self.assign_add(1))

    counter = Counter()
    assert counter.next() == 1 and counter.next() == 2
    assert type(copy.deepcopy(tf.Variable(1))).__name__ == "ResourceVariable"
    alive = weakref.ref(counter)
    del counter
    gc.collect()
    assert alive() is None

    class Forgetful(tf.Variable):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="was not initialized"):
        Forgetful().assign(1)


def test_name_scopes():
    with tf.name_scope("a") as scope:
        assert scope == "a/"
        assert tf.Variable(1, name="b").name == "a/b:0"
        with tf.name_scope("c"):
            assert tf.Variable(1).name == "a/c/Variable:0"
        with tf.name_scope(""):
            assert tf.Variable(1).name == "Variable:0"
    with tf.name_scope("x/y/") as scope:
        assert scope == "x/y/"
    assert tf.Variable(1, name="b").name == "b:0"
    for name in (3, None):
        with pytest.raises(ValueError, match="must be a string"):
            tf.name_scope(name)


class Layer(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.w = tf.Variable(1.0, name="w")
        self.b = tf.Variable(2.0, name="b", trainable=False)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Layer("one"), Layer("two")]
        self.table = {"z": tf.Variable(3, name="z"), "a": Layer("three")}
        self.again = self.layers[0].w


def test_module():
    model = Model()
    assert model.name == "model"
    assert [v.name for v in model.variables] == ["w:0", "z:0", "b:0", "b:0", "w:0", "b:0", "w:0"]
    assert len(model.trainable_variables) == 4 and len(model.non_trainable_variables) == 3
    assert [m.name for m in model.submodules] == ["one", "two", "three"]
    assert model.variables[0] is model.layers[0].w

    class TwoWords(tf.Module):
        @tf.Module.with_name_scope
        def make(self):
            return tf.Variable(1, name="v")

    assert TwoWords().name == "two_words"
    assert TwoWords().make().name == "two_words/v:0"
    assert TwoWords("given").make().name == "given/v:0"
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module("not valid")


def test_memory_is_given_back():
    statistics = tf._core.memory_statistics
    tf.Variable(np.zeros(1 << 20, np.float32))
    gc.collect()
    before = statistics()["bytes_in_use"]
    for _ in range(10):
        tf.Variable(np.zeros(1 << 20, np.float32)).assign_add(np.ones(1 << 20, np.float32))
    gc.collect()
    # Value, delta and sum at once, not ten of each.
    assert statistics()["bytes_in_use"] <= before + 3 * (1 << 22)
