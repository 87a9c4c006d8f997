"""Matrix products large enough for the libraries, against NumPy."""

import numpy as np
import pytest

import graphwright as tf

CASES = [
    ((3, 40, 50), (3, 50, 60), False, False),
    ((40, 50), (3, 50, 60), False, False),
    ((3, 40, 50), (50, 60), False, False),
    ((3, 50, 40), (3, 50, 60), True, False),
    ((3, 40, 50), (3, 60, 50), False, True),
    ((50, 40), (60, 50), True, True),
    ((2, 3, 40, 50), (3, 50, 60), False, False),
    ((1, 40, 50), (1, 50, 60), False, False),
    ((70, 1), (1, 300), False, False),
    ((1, 70), (70, 300), False, False),
    ((300, 70), (70, 1), False, False),
    ((300, 170), (170, 200), False, False),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int32])
@pytest.mark.parametrize(("left", "right", "transpose_a", "transpose_b"), CASES)
def test_products_equal_numpy(left, right, transpose_a, transpose_b, dtype):
    random = np.random.default_rng(7)
    a = (random.normal(size=left) * 3).astype(dtype)
    b = (random.normal(size=right) * 3).astype(dtype)
    result = tf.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b).numpy()
    x = np.swapaxes(a, -1, -2) if transpose_a else a
    y = np.swapaxes(b, -1, -2) if transpose_b else b
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(result, x @ y, rtol=tolerance, atol=tolerance)
