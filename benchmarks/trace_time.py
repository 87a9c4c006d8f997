"""Conversion and trace of a five-line loop from fresh source: what a first call waits for."""

import sys

from harness import Aim, Snippet, compare

# Every run makes a function of new source, so that nothing made for an earlier one can serve it.
FRESH = """
import linecache
count = 0

def fresh():
    global count
    count += 1
    source = (
        "def five(x):\\n"
        "    while tf.reduce_sum(x) > 1.0:\\n"
        "        y = tf.tanh(x)\\n"
        "        x = y\\n"
        "    return x\\n"
    )
    name = "<fresh source %d>" % count
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"tf": tf}
    exec(compile(source, name, "exec"), namespace)
    return namespace["five"]
"""
STATEMENT = "tf.function(fresh()).get_concrete_function(tf.TensorSpec([5], tf.float32))"
JAX = """
import jax
import jax.numpy as jnp
x = jnp.ones(5, jnp.float32)

def fresh():
    def five(x):
        return jax.lax.while_loop(lambda x: jnp.sum(x) > 1.0, jnp.tanh, x)
    return five
"""

if __name__ == "__main__":
    met = compare(
        "conversion and trace of a five-line loop",
        {
            "graphwright": Snippet(f"import graphwright as tf\n{FRESH}", STATEMENT),
            "tensorflow": Snippet(f"import tensorflow as tf\n{FRESH}", STATEMENT),
            "jax (trace and lower)": Snippet(JAX, "jax.jit(fresh()).lower(x)"),
        },
        aim=Aim(seconds=1.5e-3),
    )
    sys.exit(not met)
