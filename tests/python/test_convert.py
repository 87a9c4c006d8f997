"""Python values as tensors and back. What is expected was recorded from TensorFlow 2.21."""

import array
import enum
import gc

import ml_dtypes
import numpy as np
import pytest

import graphwright as tf


class WithArray:
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2], np.int16)


class WithInterface:
    def __init__(self):
        self.values = np.arange(3.0)
        self.__array_interface__ = self.values.__array_interface__


class SequenceLike:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        if index > 1:
            raise IndexError
        return index


class Number(enum.IntEnum):
    THREE = 3


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (1, "int32", 1),
        (2**31 - 1, "int32", 2**31 - 1),
        (2**31, "int64", 2**31),
        (-(2**31) - 1, "int64", -(2**31) - 1),
        ([1, 2**40], "int64", [1, 2**40]),
        (1.5, "float32", 1.5),
        (True, "bool", True),
        (1 + 2j, "complex128", 1 + 2j),
        ("é", "string", b"\xc3\xa9"),
        (b"a", "string", b"a"),
        ([], "float32", []),
        ([[], []], "float32", [[], []]),
        ([1, 2.5], "float32", [1, 2.5]),
        ([2.5, 1], "float32", [2.5, 1]),
        ([1, True], "int32", [1, 1]),
        ([1.0, True], "float32", [1, 1]),
        ([1j, 1.5], "complex128", [1j, 1.5]),
        (["a", b"b"], "string", [b"a", b"b"]),
        ([[1, 2], (3, 4)], "int32", [[1, 2], [3, 4]]),
        (range(3), "int32", [0, 1, 2]),
        (range(0), "int32", []),
        (WithArray(), "int16", [1, 2]),
        (WithInterface(), "float64", [0, 1, 2]),
        (SequenceLike(), "int32", [0, 1]),
        (Number.THREE, "int32", 3),
        (bytearray(b"ab"), "int32", [97, 98]),
        (array.array("i", [1, 2]), "int32", [1, 2]),
        (np.float64(1.5), "float64", 1.5),
        (np.int8(3), "int8", 3),
        (np.bool_(True), "bool", True),
        (np.str_("ab"), "string", b"ab"),
        (ml_dtypes.bfloat16(1.5), "bfloat16", 1.5),
        ([np.float64(1.5)], "float64", [1.5]),
        ([np.float32(1.5), 2], "float32", [1.5, 2]),
        ([np.int64(3)], "int32", [3]),
        ([1, np.float64(3)], "float32", [1, 3]),
        ([1.5, np.float32(3)], "float32", [1.5, 3]),
        ([np.float16(1)], "float16", [1]),
        ([np.bool_(1)], "bool", [True]),
        (np.arange(3), "int64", [0, 1, 2]),
        ([np.arange(2), np.arange(2)], "int32", [[0, 1], [0, 1]]),
        ([np.arange(2.0), [1, 2]], "float64", [[0, 1], [1, 2]]),
        ([np.array(1.5), 2], "float64", [1.5, 2]),
        (np.array(["a", "bc"]), "string", [b"a", b"bc"]),
        (np.array(["é", "日本", "🙂"]), "string", ["é".encode(), "日本".encode(), "🙂".encode()]),
        (np.array([b"a\0b", b"c"]), "string", [b"a\0b", b"c"]),
        (np.array(["a", b"b"], object), "string", [b"a", b"b"]),
        (np.array([1, 2], ">i4"), "int32", [1, 2]),
        (np.arange(6)[::-2], "int64", [5, 3, 1]),
        (np.asfortranarray([[1, 2], [3, 4]]), "int64", [[1, 2], [3, 4]]),
        (np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[1:3, :, ::2], "int64",
         [[[1, 9], [13, 21]], [[2, 10], [14, 22]]]),
        (tf.TensorShape([1, 2]), "int32", [1, 2]),
    ],
)  # fmt: skip
def test_inferred(value, dtype, result):
    tensor = tf.constant(value)
    assert tensor.dtype.name == dtype
    assert tensor.numpy().tolist() == result if tensor.shape.rank else tensor.numpy() == result
    assert tensor.shape == np.shape(result)


@pytest.mark.parametrize(
    "value",
    [
        2**63, 1e300, None, [None], [True, 1], [1, "a"], ["a", 1], [1, 1j], [True, 1.5], [1, None],
        [[1], [2, 3]], [1, [2]], [[1], 2], [[1, 2], [3, [4]]], {1, 2}, {"a": 1}, object(),
        (x for x in [1]), np.array([1, "a"], object), np.array([None], object),
        np.array(["2020-01-01"], "M8[D]"), np.zeros(2, [("a", "i4")]), np.ones(2, np.longdouble),
        tf.TensorShape([1, None]),
    ],
)  # fmt: skip
def test_inconvertible(value):
    with pytest.raises(ValueError):
        tf.constant(value)


def test_a_list_that_contains_itself_is_an_error():
    loop = []
    loop.append(loop)
    with pytest.raises((ValueError, RecursionError)):
        tf.constant(loop)


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (True, "int32", 1),
        (np.float64(1.5), "int32", 1),
        (np.array([1.5]), "int32", [1]),
        (np.array([True]), "int32", [1]),
        (2**63, "uint64", 2**63),
        (1, "float32", 1),
        ([True], "float32", [1]),
        (2**200, "float32", np.inf),
        (16777217, "float32", 16777216),
        (2**70, "float64", 2**70),
        (70000.0, "float16", np.inf),
        (2049, "float16", 2048),
        ([0.1, 2], "bfloat16", [0.10009765625, 2]),
        (0.1, "float8_e5m2", 0.09375),
        (1.5, "complex64", 1.5),
        ([1, 2.5, 3j], "complex128", [1, 2.5, 3j]),
        (np.array([1, 0]), "bool", [True, False]),
        ("a", "string", b"a"),
    ],
)
def test_requested(value, dtype, result):
    tensor = tf.constant(value, dtype)
    assert tensor.dtype.name == dtype
    if dtype == "string":
        assert tensor.numpy() == result
    else:
        got = tensor.numpy().astype("complex128" if "complex" in dtype else "float64")
        assert np.array_equal(got, result)


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (1.5, "int32", TypeError),
        (2.0, "int64", TypeError),
        ("a", "int32", TypeError),
        (1j, "float32", TypeError),
        ([1, 2.5], "int32", TypeError),
        ([np.float32(1.5)], "int32", TypeError),
        ("1", "float32", TypeError),
        (True, "complex64", TypeError),
        (1, "bool", TypeError),
        ([True, 1], "bool", ValueError),
        (1, "string", TypeError),
        ([1], "string", TypeError),
        (1, "resource", TypeError),
        (None, "float32", ValueError),
        (np.array([1]), "string", ValueError),
        (2**63, "int64", ValueError),
        (10**400, "float64", ValueError),
        # TensorFlow wraps these silently.
        (300, "uint8", ValueError),
        (-1, "uint32", ValueError),
        ([128], "int8", ValueError),
        (2**31, "int32", ValueError),
        (-1, "uint64", ValueError),
    ],
)
def test_refused(value, dtype, error):
    with pytest.raises(error):
        tf.constant(value, dtype)


def test_lists_of_tensors():
    one = tf.constant(1)
    assert tf.convert_to_tensor([one, 2]).numpy().tolist() == [1, 2]
    assert tf.convert_to_tensor([[one, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.convert_to_tensor([tf.constant([1, 2]), [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.convert_to_tensor([tf.constant(1, "int64"), 2]).dtype == "int64"
    assert tf.convert_to_tensor([tf.Variable(1), 2]).numpy().tolist() == [1, 2]
    with pytest.raises(TypeError):
        tf.convert_to_tensor([2.5, one])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor([one, tf.constant(1.5)])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor([tf.constant([1, 2]), 3])


def test_empty_arrays_keep_their_shape():
    tensor = tf.constant(np.zeros([0, 3]))
    assert tensor.shape == [0, 3]
    assert tensor.dtype == "float64"


def test_constants_are_snapshots():
    source = np.array([1.0, 2.0] * 50)
    tensor = tf.constant(source)
    source[0] = 9
    assert tensor.numpy()[0] == 1
    copy = tensor.numpy()
    copy[1] = 9
    assert tensor.numpy()[1] == 2


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
     "float32", "float64", "complex64", "complex128", "bool"],
)  # fmt: skip
def test_round_trip(dtype):
    random = np.random.default_rng(1)
    for shape in [(), (3,), (2, 0), (4, 5, 6), (1,) * 10, (1000, 7)]:
        array_in = np.asarray(random.integers(0, 2, size=shape)).astype(dtype)
        result = tf.constant(array_in).numpy()
        assert type(result) is (array_in.dtype.type if shape == () else np.ndarray)
        assert result.dtype == array_in.dtype
        assert np.array_equal(result, array_in)


def test_scalars_keep_every_bit():
    for value in (np.float32(1e-45), np.float32("inf"), np.float32(-0.0), np.float64(0.1),
                  np.int64(-(2**63)), np.int32(-(2**31)), np.float32("nan")):  # fmt: skip
        result = tf.constant(value).numpy()
        assert type(result) is type(value)
        assert result.tobytes() == value.tobytes()


def test_strings_to_numpy():
    values = np.array([["a", "bb"], ["", "ccc"]])
    result = tf.constant(values).numpy()
    assert result.dtype == object
    assert result.tolist() == [[b"a", b"bb"], [b"", b"ccc"]]
    assert type(tf.constant("x").numpy()) is bytes


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "uint8", "float16"])
def test_dlpack_shares_memory(dtype):
    source = np.ones((3, 40), dtype)
    tensor = tf.experimental.dlpack.from_dlpack(source.__dlpack__())
    assert tensor.dtype.name == dtype
    source[0, 0] = 0
    assert tensor.numpy()[0, 0] == 0
    capsule = tf.experimental.dlpack.to_dlpack(tensor)
    again = tf.experimental.dlpack.from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.experimental.dlpack.from_dlpack(capsule)
    del source, tensor
    gc.collect()
    assert again.numpy()[1, 1] == 1


def test_dlpack_of_strided_memory_is_copied():
    source = np.arange(24.0).reshape(4, 6)[::2, ::3]
    tensor = tf.experimental.dlpack.from_dlpack(source.__dlpack__())
    assert tensor.numpy().tolist() == source.tolist()


def test_an_unused_dlpack_capsule_releases_its_tensor():
    tf.experimental.dlpack.to_dlpack(tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.experimental.dlpack.to_dlpack(tf.constant("text"))


@pytest.mark.parametrize(
    ("dtype", "format_code"),
    [("float32", "f"), ("float64", "d"), ("int64", "l"), ("bool", "?"), ("uint8", "B"),
     ("float16", "e"), ("int16", "h")],
)  # fmt: skip
def test_buffer_protocol(dtype, format_code):
    source = np.arange(24).reshape(2, 3, 4).astype(dtype)
    tensor = tf.constant(source)
    view = memoryview(tensor)
    assert (view.format, view.shape, view.readonly) == (format_code, (2, 3, 4), True)
    assert view.tobytes() == source.tobytes()
    array_view = np.asarray(tensor)
    assert array_view.dtype == source.dtype
    assert not array_view.flags.writeable
    assert np.array_equal(array_view, source)
    assert np.array(tensor).flags.writeable
    del tensor, view
    gc.collect()
    assert np.array_equal(array_view, source)
    assert memoryview(tf.constant(np.zeros((), dtype))).shape == ()


def test_dtypes_without_a_buffer_are_copied():
    for dtype in ("bfloat16", "float8_e5m2"):
        value = np.asarray(tf.constant([1.0, 2.0], dtype))
        assert value.dtype.name == dtype
    with pytest.raises((BufferError, ValueError)):
        memoryview(tf.constant(["a"]))
    assert np.asarray(tf.constant("a")).dtype == object
    assert np.asarray(tf.constant(["a", "b"])).tolist() == [b"a", b"b"]


def test_numpy_takes_tensors():
    tensor = tf.constant([1.0, 2.0])
    assert np.asarray(tensor, np.int32).tolist() == [1, 2]
    assert np.add(tensor, 1).tolist() == [2, 3]
    assert np.array([tensor, tensor]).tolist() == [[1, 2], [1, 2]]
    assert np.from_dlpack(tensor).tolist() == [1, 2]
    assert tensor.__dlpack_device__() == (1, 0)
    assert tensor.__array__(np.float64).dtype == np.float64
