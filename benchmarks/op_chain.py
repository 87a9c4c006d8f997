"""A chain of small ops in one function: the time of one op, with shapes known and unknown."""

import sys

from harness import Aim, Snippet, compare

OPS = 100

CHAIN = """
import {name} as tf

x = tf.constant([0.1, 0.2, 0.3, 0.4])
y = tf.constant([1.0, -1.0, 0.5, 0.25])

@tf.function(input_signature=[tf.TensorSpec({shape}), tf.TensorSpec({shape})], autograph=False)
def f(x, y):
    for _ in range({ops} // 4):
        x = tf.maximum((x + y) * y - y, x)
    return x
"""
JAX = """
import jax
import jax.numpy as jnp

x = jnp.array([0.1, 0.2, 0.3, 0.4])
y = jnp.array([1.0, -1.0, 0.5, 0.25])

@jax.jit
def f(x, y):
    for _ in range({ops} // 4):
        x = jnp.maximum((x + y) * y - y, x)
    return x
"""


def snippets(shape: str) -> dict[str, Snippet]:
    result = {
        name: Snippet(CHAIN.format(name=name, shape=shape, ops=OPS), "f(x, y)", OPS)
        for name in ("graphwright", "tensorflow")
    }
    result["jax"] = Snippet(JAX.format(ops=OPS), "f(x, y).block_until_ready()", OPS)
    return result


if __name__ == "__main__":
    met = compare("chain of 100 ops on [4], per op", snippets("[4]"), aim=Aim(seconds=60e-9))
    met &= compare(
        "chain of 100 ops on a vector of unknown length, per op",
        snippets("[None]"),
        aim=Aim(seconds=60e-9),
    )
    sys.exit(not met)
