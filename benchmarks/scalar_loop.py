"""A scalar `while` in a function: the time of one iteration, and of a call with none."""

import os
import sys
import tempfile

from harness import Aim, Snippet, compare

ITERATIONS = 100_000

# AutoGraph reads the source, so that it must be in a file.
PROGRAM = """
def loop(n, x):
    i = tf.constant(0)
    while i < n:
        x = x * 0.999 + 0.1
        i += 1
    return x
"""
JAX = """
import jax
import jax.numpy as jnp

@jax.jit
def f(n, x):
    def body(state):
        i, x = state
        return i + 1, x * 0.999 + 0.1
    return jax.lax.while_loop(lambda state: state[0] < n, body, (0, x))[1]
"""


def snippets(folder: str, count: int) -> dict[str, Snippet]:
    result = {}
    for name in ("graphwright", "tensorflow"):
        path = os.path.join(folder, f"loop_with_{name}.py")
        with open(path, "w") as file:
            file.write(f"import {name} as tf\n{PROGRAM}")
        result[name] = Snippet(
            f"import sys\nsys.path.insert(0, {folder!r})\nfrom loop_with_{name} import loop, tf\n"
            f"f = tf.function(loop)\nn = tf.constant({count})\nx = tf.constant(1.0)",
            "f(n, x)",
            max(count, 1),
        )
    result["jax"] = Snippet(
        f"{JAX}\nn = {count}\nx = jnp.float32(1.0)", "f(n, x).block_until_ready()", max(count, 1)
    )
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        met = compare(
            "scalar while, per iteration",
            snippets(directory, ITERATIONS),
            aim=Aim(seconds=30e-9),
            rounds=5,
            seconds=0.2,
        )
        met &= compare(
            "call of a function with a loop of no iterations",
            snippets(directory, 0),
            aim=Aim(seconds=1e-6),
        )
    sys.exit(not met)
