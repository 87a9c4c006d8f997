"""What the first call of a traced function costs: passes, lowering and one run."""

import statistics
import sys
import time

import graphwright as tf

COUNT = 300


def small(x, y):
    return tf.tanh(x) * y + 1.0


def loop(x, y):
    while tf.reduce_sum(x) > 1.0:
        x = tf.tanh(x) * y
    return x


def chain(x, y):
    for _ in range(2000):
        x = x * y + 1.0
        y = tf.tanh(x)
        x = x - y * 0.5
    return x


def first_call(function, count):
    spec = tf.TensorSpec([5], tf.float32)
    x = tf.ones([5])
    times = []
    for _ in range(count):
        concrete = tf.function(function).get_concrete_function(spec, spec)
        start = time.perf_counter()
        concrete(x, x)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    print(f"three ops:    {first_call(small, COUNT) * 1e6:8.1f} us")
    print(f"a loop:       {first_call(loop, COUNT) * 1e6:8.1f} us")
    large = first_call(chain, 5)
    print(f"14,000 nodes: {large * 1e3:8.1f} ms (aim: below 500 ms)")
    sys.exit(large > 0.5)
