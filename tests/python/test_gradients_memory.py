"""Memory stays flat: functions made and dropped, and calls with gradients."""

from __future__ import annotations

import gc
import os
import weakref

import pytest

import graphwright as tf


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(action, warm_up, count):
    """Bytes and Python objects gained by `count` runs of `action`, after `warm_up` of them."""
    for i in range(warm_up):
        action(i)
    gc.collect()
    objects, memory = len(gc.get_objects()), resident_bytes()
    for i in range(warm_up, warm_up + count):
        action(i)
    gc.collect()
    return resident_bytes() - memory, len(gc.get_objects()) - objects


def function_with_a_loop(scale):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(2):
            y = y * x + scale
        return tf.reduce_sum(y)

    return f


def differentiate(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def make_and_drop(i):
    f = function_with_a_loop(float(i))
    differentiate(f, tf.constant([1.0, 2.0]))


def many_traces_of_one_function(i):
    f = function_with_a_loop(float(i))
    for length in range(1, 4):
        differentiate(f, tf.ones([length]))


SHARED = function_with_a_loop(1.0)


def call_with_gradient(_):
    differentiate(SHARED, tf.constant([1.0, 2.0]))


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize(
    ("action", "warm_up", "count"),
    [
        (make_and_drop, 100, 200),
        (many_traces_of_one_function, 30, 60),
        (call_with_gradient, 200, 1000),
    ],
)
def test_memory_stays_flat(action, warm_up, count):
    memory, objects = growth(action, warm_up, count)
    assert objects < count // 4
    assert memory < 6 << 20


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize(
    ("action", "count"),
    [
        (make_and_drop, 10_000),
        (many_traces_of_one_function, 3_400),
        (call_with_gradient, 100_000),
    ],
)
def test_memory_stays_flat_over_many(action, count):
    memory, objects = growth(action, count // 10, count)
    assert objects < 200
    assert memory < 24 << 20


def test_what_a_dropped_function_captured_is_freed():
    def use():
        big = tf.Variable(tf.ones([300]))
        f = tf.function(lambda x: tf.reduce_sum(x * big))
        with tf.GradientTape() as tape:
            y = f(tf.constant(2.0))
        assert tape.gradient(y, big) is not None
        return weakref.ref(big)

    alive = use()
    gc.collect()
    assert alive() is None
