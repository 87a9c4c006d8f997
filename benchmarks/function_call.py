"""A call of a traced function: `x + y` on scalars, and the same with a variable beside them."""

import os
import sys
import tempfile

from harness import Aim, Snippet, compare

PROGRAM = """
def add(x, y):
    return x + y

v = tf.Variable(1.0)

def scale(x):
    return x * v
"""
JAX = "import jax\nimport jax.numpy as jnp\nx = jnp.float32(1.0)\ny = jnp.float32(2.0)\n"
TORCH = "import torch\nx = torch.tensor(1.0)\ny = torch.tensor(2.0)\n"


def ours_and_tensorflow(folder: str, function: str, call: str) -> dict[str, Snippet]:
    result = {}
    for name in ("graphwright", "tensorflow"):
        path = os.path.join(folder, f"calls_with_{name}.py")
        with open(path, "w") as file:
            file.write(f"import {name} as tf\n{PROGRAM}")
        result[name] = Snippet(
            f"import sys\nsys.path.insert(0, {folder!r})\n"
            f"from calls_with_{name} import {function}, tf\n"
            f"f = tf.function({function})\nx = tf.constant(1.0)\ny = tf.constant(2.0)\n{call}",
            call,
        )
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        snippets = ours_and_tensorflow(directory, "add", "f(x, y)")
        snippets["jax"] = Snippet(f"{JAX}f = jax.jit(lambda x, y: x + y)\nf(x, y)", "f(x, y)")
        snippets["torch"] = Snippet(TORCH, "x + y")
        met = compare("call of a function, x + y", snippets, aim=Aim(seconds=1e-6))
        met &= compare(
            "call of a function that reads a variable",
            ours_and_tensorflow(directory, "scale", "f(x)"),
            aim=Aim(seconds=1e-6),
        )
    sys.exit(not met)
