"""The environment variable that forces a vector width, and equal bits whatever it says."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WIDTHS = ("sse42", "avx2", "avx512")
# Prints a digest of results over ordinary and special values, on odd sizes.
PROGRAM = """
import hashlib
import numpy as np
import graphwright as tf

random = np.random.default_rng(5)
special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -3e-42, 3e38, 1e5, -7e8]
digest = hashlib.sha256()


def add(tensor):
    array = tensor.numpy()
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.nan, array)  # the sign of NaN may differ
    digest.update(array.tobytes())


for dtype in ("float32", "float64", "float16", "complex64"):
    values = random.uniform(-6, 6, size=997)
    if dtype != "complex64":
        values[: len(special)] = special
    with np.errstate(over="ignore"):
        x = tf.constant(values.astype(dtype))
        y = tf.constant(random.uniform(-3, 3, size=997).astype(dtype))
    for f in (tf.tanh, tf.exp, tf.sigmoid, tf.sin, tf.cos, tf.sqrt, tf.square):
        add(f(x))
    for z in (x + y, x - y, x * y, x / y, tf.reduce_sum(x), tf.reduce_prod(y)):
        add(z)
    add(tf.reduce_mean(tf.reshape(y[:990], [9, 110]), 0))
    if dtype != "complex64":
        for z in (x // y, x % y, tf.maximum(x, y), x < y, tf.reduce_max(y), tf.pow(x, y)):
            add(z)
integers = tf.constant(random.integers(-(2**31), 2**31, size=101).astype("int32"))
for z in (integers + integers, integers * integers, integers // 7, integers % -7):
    add(z)
add(tf.reduce_sum(integers))
print(digest.hexdigest())
"""


def run(program: str, width: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GRAPHWRIGHT_ISA": width}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )


def digest(width: str) -> str:
    done = run(PROGRAM, width)
    if "this CPU does not have these instructions" in done.stderr:
        pytest.skip(f"this CPU does not have {width}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_every_width_gives_the_same_bits(width: str) -> None:
    assert digest(width) == digest(WIDTHS[0])


def test_an_unknown_width_is_an_error() -> None:
    done = run("import graphwright as tf; tf.tanh(tf.constant([0.5, 1.0]))", "mmx")
    assert done.returncode != 0
    assert "GRAPHWRIGHT_ISA=mmx: must be one of sse42, avx2, avx512" in done.stderr
