"""Products, tensordot and norms, against NumPy and recorded values."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import graphwright as tf

DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "int64", "complex64", "complex128"]


def numbers(*shape, dtype="float64"):
    values = np.sin(np.arange(int(np.prod(shape))) + 0.5).reshape(shape)
    kind = tf.as_dtype(dtype).as_numpy_dtype
    if np.dtype(kind).kind in "iu":
        return np.round(4 * values).astype(kind)
    if np.dtype(kind).kind == "c":
        return (values + 1j * values[..., ::-1]).astype(kind)
    return values.astype(kind)


def oriented(x, transpose, adjoint):
    if transpose or adjoint:
        x = np.swapaxes(x, -1, -2)
    return np.conj(x) if adjoint else x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((), (4,))])
def test_matmul(dtype, batch):
    wide = np.float32 if dtype in ("float16", "bfloat16") else None
    tolerance = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-5, "complex64": 1e-5}.get(dtype)
    for ta, aa, tb, ab in itertools.product((False, True), repeat=4):
        if (ta and aa) or (tb and ab):
            continue
        a = numbers(*batch[0], *((3, 2) if ta or aa else (2, 3)), dtype=dtype)
        b = numbers(*batch[1], *((4, 3) if tb or ab else (3, 4)), dtype=dtype)
        got = tf.matmul(a, b, transpose_a=ta, adjoint_a=aa, transpose_b=tb, adjoint_b=ab)
        left, right = oriented(a, ta, aa), oriented(b, tb, ab)
        if wide:
            left, right = left.astype(wide), right.astype(wide)
        wanted = left @ right
        assert got.dtype == dtype
        np.testing.assert_allclose(
            got.numpy().astype(wanted.dtype), wanted, rtol=0, atol=tolerance or 1e-12
        )


def test_empty_products():
    assert tf.matmul(np.zeros((2, 0)), np.zeros((0, 3))).numpy().tolist() == [[0] * 3] * 2
    assert tf.matmul(np.zeros((0, 2)), np.zeros((2, 3))).shape == (0, 3)


def test_large_products_go_through_the_library():
    a, b = numbers(65, 130, dtype="float32"), numbers(130, 70, dtype="float32")
    np.testing.assert_allclose(tf.matmul(a, b).numpy(), a @ b, atol=1e-4)
    np.testing.assert_allclose(tf.matmul(a, b.T.copy(), transpose_b=True).numpy(), a @ b, atol=1e-4)


def test_operator_and_vectors():
    x = tf.constant([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
    np.testing.assert_allclose((x @ tf.transpose(x)).numpy(), [[14, -10.5], [-10.5, 17.25]])
    assert tf.linalg.matvec(x, [1.0, 2.0, 3.0]).numpy().tolist() == [6.0, 5.5]
    np.testing.assert_allclose(
        tf.tensordot(x, x, [[1], [1]]).numpy(), [[14, -10.5], [-10.5, 17.25]]
    )
    assert tf.tensordot(x, x, 2).numpy() == 31.25
    a, b = numbers(2, 3, 4), numbers(4, 3, 5)
    np.testing.assert_allclose(
        tf.tensordot(a, b, [[1, 2], [1, 0]]).numpy(), np.tensordot(a, b, [[1, 2], [1, 0]])
    )


def test_norms():
    x = tf.constant([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
    np.testing.assert_allclose(
        tf.norm(x, ord=1.5, axis=1).numpy(), [4.3346229, 4.4393334], rtol=1e-6
    )
    assert tf.norm(x, axis=[0, 1]).numpy() == pytest.approx(5.5901699)
    assert tf.norm(x, ord=1).numpy() == 11.5
    assert tf.norm(x, ord=np.inf).numpy() == 4
    assert tf.norm(x, axis=1, keepdims=True).shape == (2, 1)
    with pytest.raises(ValueError):
        tf.norm(x, ord="nuclear?")


def test_errors():
    x = tf.zeros([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
        tf.matmul(x, x)
    with pytest.raises(ValueError):
        tf.function(lambda a: tf.matmul(a, a), autograph=False)(x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.zeros([3]), x)
    with pytest.raises(ValueError, match="Only one"):
        tf.matmul(x, x, transpose_a=True, adjoint_a=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.zeros([2, 2, 3]), tf.zeros([3, 3, 2]))


PRODUCTS = """
import itertools, sys
import numpy as np
import graphwright as tf
random = np.random.default_rng(1)
for kind in ("float32", "float64"):
    for rows, inner, columns in itertools.product((1, 2, 3, 9), (1, 7, 32), (1, 3, 16, 31, 45)):
        a = random.standard_normal((rows, inner)).astype(kind)
        b = random.standard_normal((inner, columns)).astype(kind)
        c = tf.matmul(a, b).numpy()
        wanted = a.astype("float64") @ b.astype("float64")
        np.testing.assert_allclose(c, wanted, rtol=0, atol=2e-5 if kind == "float32" else 1e-13)
        for ta, tb in itertools.product((False, True), repeat=2):
            left = np.ascontiguousarray(a.T) if ta else a
            right = np.ascontiguousarray(b.T) if tb else b
            same = tf.matmul(left, right, transpose_a=ta, transpose_b=tb).numpy()
            assert same.tobytes() == c.tobytes()
        sys.stdout.write(c.tobytes().hex())
"""


def test_small_products_have_the_same_bits_at_every_vector_width():
    def bits(width):
        environment = {**os.environ, "GRAPHWRIGHT_ISA": width}
        done = subprocess.run(
            [sys.executable, "-c", PRODUCTS], env=environment, capture_output=True, text=True
        )
        if "GRAPHWRIGHT_ISA" in done.stderr:
            return None  # this machine lacks it
        assert done.returncode == 0, done.stderr
        return done.stdout

    found = {bits(width) for width in ("sse42", "avx2", "avx512", "generic")} - {None}
    assert len(found) == 1
