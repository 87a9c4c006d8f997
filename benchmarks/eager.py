"""Eager ops: the time of one op on small tensors, Python's own work included."""

import sys

from harness import Aim, Snippet, compare

FRAMEWORKS = {
    "graphwright": "import graphwright as tf",
    "tensorflow": "import tensorflow as tf",
}


def tensors(statement: str, numpy_statement: str, jax: str, torch: str) -> dict[str, Snippet]:
    """The same work for everybody, on a 0-d `a` and a vector `v` of 100 floats."""
    snippets = {
        name: Snippet(f"{import_}\na = tf.constant(1.5)\nv = tf.fill([100], 0.5)", statement)
        for name, import_ in FRAMEWORKS.items()
    }
    snippets["numpy"] = Snippet(
        "import numpy as np\na = np.array(1.5, np.float32)\nv = np.full(100, 0.5, np.float32)",
        numpy_statement,
    )
    snippets["jax"] = Snippet(
        "import jax.numpy as jnp\na = jnp.float32(1.5)\nv = jnp.full(100, 0.5)", jax
    )
    snippets["torch"] = Snippet(
        "import torch\na = torch.tensor(1.5)\nv = torch.full([100], 0.5)", torch
    )
    return snippets


if __name__ == "__main__":
    met = compare(
        "eager add, 0-d float32",
        tensors("a + a", "a + a", "a + a", "a + a"),
        aim=Aim("numpy", 0.25),
    )
    met &= compare(
        "eager tanh, 100 float32",
        tensors("tf.tanh(v)", "np.tanh(v)", "jnp.tanh(v)", "torch.tanh(v)"),
        aim=Aim("numpy", 0.25),
    )
    met &= compare(
        "eager add with broadcasting, [100] + 0-d float32",
        tensors("v + a", "v + a", "v + a", "v + a"),
        aim=Aim("numpy", 1.0),
    )
    sys.exit(not met)
