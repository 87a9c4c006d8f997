"""Random numbers: TensorFlow 2.21's for its seeds."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf


@pytest.fixture(autouse=True)
def no_seed_left():
    yield
    tf.random.set_seed(None)


def check(got, wanted, tolerance=3e-7):
    np.testing.assert_allclose(np.asarray(got.numpy(), np.float64), wanted, atol=tolerance)


def test_eager_numbers():
    tf.random.set_seed(2026)
    check(
        tf.random.uniform([5]),
        [0.10240662097930908, 0.6276571750640869, 0.5165997743606567, 0.5038001537322998]
        + [0.8562207221984863],
    )
    check(
        tf.random.uniform([2, 3]),
        [
            [0.555588960647583, 0.19593417644500732, 0.7698478698730469],
            [0.29823732376098633, 0.18814241886138916, 0.014661550521850586],
        ],
    )
    check(
        tf.random.normal([5]),
        [1.3427417278289795, 0.9897116422653198, 0.2596309781074524, 0.2353653758764267]
        + [-0.4245804250240326],
        2e-6,
    )
    assert tf.random.uniform([3], 0, 10, tf.int32).numpy().tolist() == [5, 7, 4]
    assert tf.random.uniform([3], -5, 10**12, tf.int64).numpy().tolist() == [
        219652758142,
        465918063153,
        91056184080,
    ]
    check(
        tf.random.uniform([3], dtype=tf.float64),
        [0.12603079696396846, 0.4032909173625847, 0.35794025553162423],
        1e-16,
    )
    check(
        tf.random.normal([3], dtype=tf.float64),
        [-0.7614982141004987, -0.31187272071974, 0.06621056392884966],
        1e-14,
    )
    check(
        tf.random.uniform([5], dtype=tf.float16),
        [0.75390625, 0.015625, 0.40625, 0.1201171875, 0.3974609375],
        0,
    )
    check(
        tf.random.uniform([5], dtype=tf.bfloat16),
        [0.8125, 0.3203125, 0.625, 0.1171875, 0.578125],
        0,
    )
    check(
        tf.random.normal([5], dtype=tf.float16),
        [0.08660888671875, -1.7060546875, 0.458740234375, 1.25, -0.04632568359375],
        2e-3,
    )


def test_op_seeds_and_sequences():
    tf.random.set_seed(1)
    check(tf.random.uniform([2], seed=7), [0.787847638130188, 0.7003978490829468])
    check(tf.random.uniform([2], seed=7), [0.3380305767059326, 0.5649691820144653])
    check(tf.random.uniform([2], seed=7), [0.8580079078674316, 0.8567783832550049])
    check(tf.random.uniform([2]), [0.1651308536529541, 0.9014812707901001])
    tf.random.set_seed(1)
    check(tf.random.uniform([2], seed=7), [0.787847638130188, 0.7003978490829468])


def test_functions_keep_their_place_per_call_site():
    @tf.function(autograph=False)
    def function():
        return (
            tf.random.uniform([2]),
            tf.random.uniform([2]),
            tf.random.uniform([1], seed=3),
        )

    first = [
        [0.8126964569091797, 0.07857465744018555],
        [0.055544137954711914, 0.018698453903198242],
        [0.7787855863571167],
    ]
    second = [
        [0.8489425182342529, 0.09832477569580078],
        [0.5773283243179321, 0.2963677644729614],
        [0.09788680076599121],
    ]
    tf.random.set_seed(1)
    for wanted in (first, second):
        for got, numbers in zip(function(), wanted, strict=True):
            check(got, numbers)
    tf.random.set_seed(1)
    for got, numbers in zip(function(), first, strict=True):
        check(got, numbers)


def test_ranges_and_errors():
    x = tf.random.uniform([1000], 2.0, 5.0).numpy()
    assert x.min() >= 2 and x.max() < 5 and 3.3 < x.mean() < 3.7
    x = tf.random.normal([10000], 1.0, 2.0).numpy()
    assert abs(x.mean() - 1) < 0.1 and abs(x.std() - 2) < 0.1
    assert (tf.random.uniform([50]).numpy() != tf.random.uniform([50]).numpy()).any()
    assert tf.random.uniform([0]).shape == (0,)
    with pytest.raises(ValueError, match="maxval"):
        tf.random.uniform([2], dtype=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="minval < maxval"):
        tf.random.uniform([2], 5, 3, tf.int32)
    with pytest.raises(ValueError):
        tf.random.uniform([2], dtype=tf.string)
