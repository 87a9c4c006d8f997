"""A dynamic RNN in a function, one product of matrices too small to share out: time per step."""

import os
import sys
import tempfile

from harness import Aim, Snippet, compare

STEPS = 500

# AutoGraph reads the source, so that it must be in a file.
PROGRAM = """
def rnn(xs, w, u, b):
    h = tf.zeros([8, 32])
    t = tf.constant(0)
    while t < tf.shape(xs)[0]:
        h = tf.tanh(tf.matmul(xs[t], w) + tf.matmul(h, u) + b)
        t += 1
    return h
"""
ARGUMENTS = """
import numpy as np

random = np.random.default_rng(0)
xs = {array}(random.standard_normal(({steps}, 8, 32)).astype(np.float32))
w = {array}((random.standard_normal((32, 32)) * 0.1).astype(np.float32))
u = {array}((random.standard_normal((32, 32)) * 0.1).astype(np.float32))
b = {array}(random.standard_normal(32).astype(np.float32))
"""
FUNCTION = """
f = tf.function(rnn, input_signature=[
    tf.TensorSpec([{first}, 8, 32]), tf.TensorSpec([32, 32]), tf.TensorSpec([32, 32]),
    tf.TensorSpec([32])])
"""
JAX = """
import jax
import jax.numpy as jnp

@jax.jit
def f(xs, w, u, b):
    def step(state):
        t, h = state
        return t + 1, jnp.tanh(xs[t] @ w + h @ u + b)
    return jax.lax.while_loop(
        lambda state: state[0] < xs.shape[0], step, (0, jnp.zeros((8, 32), jnp.float32)))[1]
"""


def snippets(folder: str, first: str) -> dict[str, Snippet]:
    result = {}
    for name in ("graphwright", "tensorflow"):
        with open(os.path.join(folder, f"rnn_with_{name}.py"), "w") as file:
            file.write(f"import {name} as tf\n{PROGRAM}")
        setup = f"import sys\nsys.path.insert(0, {folder!r})\nfrom rnn_with_{name} import rnn, tf\n"
        setup += ARGUMENTS.format(array="tf.constant", steps=STEPS) + FUNCTION.format(first=first)
        result[name] = Snippet(setup, "f(xs, w, u, b).numpy()", STEPS)
    setup = JAX + ARGUMENTS.format(array="jnp.array", steps=STEPS)
    result["jax"] = Snippet(setup, "f(xs, w, u, b).block_until_ready()", STEPS)
    return result


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        met = compare(
            "dynamic RNN, [8, 32] x [32, 32] twice, known number of steps, per step",
            snippets(directory, str(STEPS)),
            aim=Aim(seconds=1.8e-6),
            rounds=7,
        )
        met &= compare(
            "the same, number of steps not known when traced",
            snippets(directory, "None"),
            aim=Aim(seconds=1.8e-6),
            rounds=7,
        )
    sys.exit(not met)
