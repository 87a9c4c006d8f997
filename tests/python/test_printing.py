"""repr and str of eager tensors, against NumPy's own texts of random arrays of every dtype."""

import ml_dtypes
import numpy as np
import pytest

import graphwright as tf

FLOATS = ["float16", "float32", "float64", "bfloat16", "float8_e5m2", "float8_e4m3fn"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
# Before 2.3 NumPy changed to exponents at other magnitudes.
needs_current_numpy = pytest.mark.skipif(NUMPY < (2, 3), reason="texts follow NumPy 2.3 and later")


def numpy_type(name):
    return getattr(ml_dtypes, name) if name in FLOATS[3:] else np.dtype(name).type


def random_shape(random):
    kind = random.integers(0, 12)
    rank = random.integers(0, 5)
    if kind == 0:
        return tuple(random.integers(0, 3, rank).tolist())
    if kind == 1:
        return (int(random.integers(900, 2500)),)
    if kind == 2:
        return (int(random.integers(5, 40)), int(random.integers(5, 60)))
    if kind == 3:
        return (8, 8, 20)
    return tuple(random.integers(1, 7, rank).tolist())


def random_floats(random, shape, dtype):
    kind = random.integers(0, 8)
    if kind == 0:
        values = random.normal(size=shape)
    elif kind == 1:
        values = random.normal(size=shape) * 10.0 ** random.integers(-8, 9)
    elif kind == 2:
        values = random.normal(size=shape) * 10.0 ** random.integers(-8, 9, size=shape)
    elif kind == 3:
        values = random.integers(-1000, 1000, size=shape).astype(float)
    elif kind == 4:  # any bit pattern
        size = np.dtype(dtype).itemsize
        bits = random.integers(0, 256, size=(*shape, size), dtype=np.uint8)
        return bits.view(dtype).reshape(shape)
    elif kind == 5:
        choices = [0, -0.0, 1, 1e-4, 1e-5, 1e6, 999999, 1e8, 1e16, 0.1, np.nan]
        values = random.choice(choices, size=shape)
    elif kind == 6:
        values = 2.0 ** random.integers(-150, 127, size=shape)
    else:
        values = np.round(random.normal(size=shape), 2)
    if random.integers(0, 4) == 0:
        special = random.choice([np.nan, np.inf, -np.inf, -0.0, 0], size=shape)
        values = np.where(random.random(shape) < 0.2, special, values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def random_array(random, name):
    shape = random_shape(random)
    if name == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if name in INTEGERS:
        limits = np.iinfo(name)
        low, high = [
            (limits.min, limits.max),
            (max(limits.min, -100), 100),
            (0, 10),
        ][random.integers(3)]
        return np.asarray(random.integers(low, high, size=shape, dtype=name, endpoint=True))
    if name in COMPLEX:
        part = "float32" if name == "complex64" else "float64"
        array = np.empty(shape, name)
        array.real = random_floats(random, shape, part)
        array.imag = random_floats(random, shape, part)
        return array
    if name == "string":
        count = int(np.prod(shape))
        limit = int(random.choice([128, 256]))
        values = [random.integers(0, limit, size=6, dtype=np.uint8).tobytes() for _ in range(count)]
        return np.array([*values, None], object)[:-1].reshape(shape)
    return random_floats(random, shape, numpy_type(name))


def in_frame(text):
    return "\n" + text if "\n" in text else text


@needs_current_numpy
@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, *COMPLEX, "bool", "string"])
def test_texts_are_those_of_numpy(name):
    if name in FLOATS[3:] and NUMPY >= (2, 5):
        pytest.skip("NumPy 2.5 names the dtypes of ml_dtypes differently")
    random = np.random.default_rng(sum(name.encode()))
    for _ in range(150):
        array = random_array(random, name)
        tensor = tf.constant(array)
        scalar = array.ndim == 0
        text = str(array[()]) if scalar else str(array)
        value = repr(array.item()) if scalar else repr(array)
        assert str(tensor) == f"tf.Tensor({in_frame(text)}, shape={array.shape}, dtype={name})"
        assert repr(tensor) == (
            f"<tf.Tensor: shape={array.shape}, dtype={name}, numpy={in_frame(value)}>"
        )


@needs_current_numpy
def test_every_half_prints_as_numpy_prints_it():
    for value in np.arange(65536, dtype=np.uint16).view(np.float16)[::7]:
        assert str(tf.constant(value)) == f"tf.Tensor({value!s}, shape=(), dtype=float16)"


def test_print_options_are_followed():
    array = np.array([1.23456789, 1e-3], np.float32)
    tensor = tf.constant(array)
    with np.printoptions(precision=2, suppress=True):
        assert repr(array) in repr(tensor)
        assert str(array) in str(tensor)
    with np.printoptions(edgeitems=1, threshold=2):
        assert repr(np.arange(5)) in repr(tf.constant(np.arange(5)))
    assert repr(array) in repr(tensor)
