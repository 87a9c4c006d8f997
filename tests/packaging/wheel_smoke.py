"""A short program for an installed wheel: every shared object loads and the main paths work.

Run on each Python by `./dev wheel`; needs graphwright and what it depends on, nothing else.
"""

import sys
from importlib import metadata

import numpy as np

import graphwright as tf


def check_installation() -> None:
    installed = {
        (d.metadata["Name"] or "").lower().replace("_", "-") for d in metadata.distributions()
    }
    allowed = {"graphwright", "numpy", "nanobind-backend", "protobuf", "ml-dtypes"}
    assert installed <= allowed, f"also installed: {sorted(installed - allowed)}"
    assert tf.__version__ == metadata.version("graphwright")
    assert "site-packages" in tf.__file__, tf.__file__
    assert any(
        file.name == "THIRD_PARTY_NOTICES.txt" for file in metadata.files("graphwright") or []
    )


def check_types() -> None:
    files = {str(file) for file in metadata.files("graphwright") or []}
    for name in ("py.typed", "__init__.pyi", "_core.pyi", "nn.pyi", "raw_ops.pyi"):
        assert f"graphwright/{name}" in files, name


def check_eager() -> None:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal((a + a).numpy(), [[2.0, 4.0], [6.0, 8.0]])
    assert str(tf.tanh(tf.constant(0.0)) + 0.5) == "tf.Tensor(0.5, shape=(), dtype=float32)"
    try:
        a + tf.constant([1.0, 2.0, 3.0])
    except tf.errors.InvalidArgumentError as error:
        assert "AddV2" in str(error)
    else:
        raise AssertionError("shapes that do not fit were added")


def check_libraries() -> None:
    """Products and convolutions open the shared objects beside the module."""
    a = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) / 4096
    np.testing.assert_allclose(tf.matmul(a, a).numpy(), a @ a, rtol=1e-5)
    double = a.astype(np.float64)
    np.testing.assert_allclose(tf.matmul(double, double).numpy(), double @ double, rtol=1e-12)
    image = tf.ones([1, 5, 5, 1])
    result = tf.nn.conv2d(image, tf.ones([3, 3, 1, 2]), strides=1, padding="VALID")
    assert np.array_equal(result.numpy(), np.full((1, 3, 3, 2), 9.0, np.float32))


def check_staging() -> None:
    @tf.function
    def collatz_steps(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    assert int(collatz_steps(tf.constant(27))) == 111
    variable = tf.Variable(2.0)

    @tf.function
    def power(n):
        result = tf.constant(1.0)
        for _ in tf.range(n):
            result *= variable
        return result

    with tf.GradientTape() as tape:
        result = power(tf.constant(5))
    assert float(tape.gradient(result, variable)) == 80.0
    names = [
        node.name for node in power.get_concrete_function(tf.constant(1)).graph.as_graph_def().node
    ]
    assert "while" in names, names


def main() -> None:
    check_installation()
    check_types()
    check_eager()
    check_libraries()
    check_staging()
    print(f"graphwright {tf.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
