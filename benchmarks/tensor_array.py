"""A loop in a function that collects its results in a TensorArray: time per iteration."""

import os
import sys
import tempfile

from harness import Aim, Snippet, compare

ITERATIONS = 10_000
WIDTH = 16

# AutoGraph reads the source, so that it must be in a file.
PROGRAM = f"""
def write(x):
    results = tf.TensorArray(tf.float32, size={ITERATIONS})
    for i in tf.range({ITERATIONS}):
        x = x * 0.5 + 1.0
        results = results.write(i, x)
    return results.stack()


def read_and_write(x):
    results = tf.TensorArray(tf.float32, size={ITERATIONS} + 1, clear_after_read=False)
    results = results.write(0, x)
    for i in tf.range({ITERATIONS}):
        results = results.write(i + 1, results.read(i) * 0.5 + 1.0)
    return results.stack()


def grow(x):
    results = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range({ITERATIONS}):
        x = x * 0.5 + 1.0
        results = results.write(i, x)
    return results.stack()
"""
JAX = f"""
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    def step(x, _):
        x = x * 0.5 + 1.0
        return x, x
    return jax.lax.scan(step, x, None, length={ITERATIONS})[1]

x = jnp.zeros({WIDTH}, jnp.float32)
"""


def snippets(folder: str, function: str) -> dict[str, Snippet]:
    result = {}
    for name in ("graphwright", "tensorflow"):
        with open(os.path.join(folder, f"arrays_with_{name}.py"), "w") as file:
            file.write(f"import {name} as tf\n{PROGRAM}")
        setup = (
            f"import sys\nsys.path.insert(0, {folder!r})\nfrom arrays_with_{name} import *\n"
            f"f = tf.function({function})\nx = tf.zeros({WIDTH})\n"
        )
        result[name] = Snippet(setup, "f(x).numpy()", ITERATIONS)
    result["jax"] = Snippet(JAX, "f(x).block_until_ready()", ITERATIONS)
    return result


if __name__ == "__main__":
    met = True
    with tempfile.TemporaryDirectory() as directory:
        for function, title in {
            "write": "a write in each iteration",
            "read_and_write": "a read and a write",
            "grow": "a write, the array growing",
        }.items():
            met &= compare(
                f"TensorArray in a loop over float32[{WIDTH}], {title}, per iteration",
                snippets(directory, function),
                aim=Aim("tensorflow", 0.1),
                rounds=5,
            )
    sys.exit(not met)
