"""What happens where memory does not suffice: an error that says so, and a process that goes on."""

import os
import subprocess
import sys

import pytest

import graphwright as tf


def check(call, *words):
    with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
        call()
    for word in ("OOM when allocating tensor", *words):
        assert word in str(caught.value)
    assert float(tf.reduce_sum(tf.ones([3]))) == 3


def test_sizes_that_no_machine_has():
    check(lambda: tf.zeros([10**12]), "[1000000000000] and type float")
    check(lambda: tf.fill([10**6, 10**7], tf.constant(1, tf.int64)), "[1000000,10000000]", "int64")
    check(lambda: tf.random.normal([10**12]), "[Op:RandomStandardNormal]")


def test_in_functions_the_error_names_node_and_line():
    @tf.function
    def outer(n):
        x = tf.ones([n])
        return tf.reduce_sum(x[:, None] * x)

    assert float(outer(tf.constant(3))) == 9
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    for _ in range(3):
        check(lambda: outer(tf.constant(3_000_000)), "[3000000,3000000]", __file__, "in outer")
    assert tf.config.experimental.get_memory_info("CPU:0")["current"] < before + 10**8
    assert float(outer(tf.constant(3))) == 9


def test_known_shapes_too():
    @tf.function
    def known():
        return tf.reduce_sum(tf.random.normal([10**6, 10**6]))

    with pytest.raises(tf.errors.ResourceExhaustedError):
        known()


LIMITED = """
import graphwright as tf

info = tf.config.experimental.get_memory_info
x = tf.zeros([1000, 1000])


def grow(n):
    items = tf.raw_ops.EmptyTensorList(
        element_shape=[1000, 1000], max_num_elements=-1, element_dtype=tf.float32
    )
    for _ in range(n):
        items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=x)
    return tf.raw_ops.TensorListLength(input_handle=items)


@tf.function
def many(n):
    total = tf.constant(0.0)
    for i in tf.range(n):
        total += tf.reduce_sum(tf.ones([1000, 1000 * (i + 1)]))
    return total


def refused(call):
    try:
        call()
    except tf.errors.ResourceExhaustedError as error:
        assert "limit is 100000000" in str(error), error
        return True


assert refused(lambda: tf.zeros([30_000_000]))
assert grow(5) == 5
for _ in range(5):
    assert refused(lambda: grow(1000))
    assert refused(lambda: many(tf.constant(100)))
assert info()["peak"] <= 100_000_000
assert grow(5) == 5 and many(tf.constant(2)) == 3_000_000
tf.config.experimental.set_memory_limit(400_000_000)
assert tf.zeros([30_000_000]).shape == [30_000_000]
print("goes on")
"""


def test_a_limit_of_the_environment_and_of_the_program(tmp_path):
    program = tmp_path / "limited.py"
    program.write_text(LIMITED)
    environment = {**os.environ, "GRAPHWRIGHT_MEMORY_LIMIT": "100000000"}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "goes on\n", done.stderr


def test_arguments():
    with pytest.raises(ValueError, match="negative"):
        tf.config.experimental.set_memory_limit(-1)
    with pytest.raises(ValueError, match="Unknown device"):
        tf.config.experimental.get_memory_info("GPU:0")
    assert set(tf.config.experimental.get_memory_info("CPU:0")) == {"current", "peak"}
