"""float32 tanh has TensorFlow's bits: loops on a tanh then end after the same iteration."""

import numpy as np

import graphwright as tf

# (x, tf.tanh(x)) of TensorFlow 2.21.
RECORDED = [
    ("-0x1.3000000000000p+3", "-0x1.0000000000000p+0"),
    ("-0x1.0266660000000p+3", "-0x1.0000000000000p+0"),
    ("-0x1.a9999a0000000p+2", "-0x1.ffff8c0000000p-1"),
    ("-0x1.2ff0700000000p+2", "-0x1.ffec5c0000000p-1"),
    ("-0x1.0e511a0000000p+1", "-0x1.f1387c0000000p-1"),
    ("-0x1.e666660000000p-1", "-0x1.7ac4da0000000p-1"),
    ("-0x1.374bc60000000p-7", "-0x1.3749600000000p-7"),
    ("0x0.0p+0", "0x0.0p+0"),
    ("0x1.566cf40000000p-7", "0x1.5669c40000000p-7"),
    ("0x1.1d26ea0000000p+1", "0x1.f43e4e0000000p-1"),
    ("-0x1.ebd9020000000p-8", "-0x1.ebd6a40000000p-8"),
    ("0x1.c2e33e0000000p-10", "0x1.c2e3200000000p-10"),
    ("0x1.4784240000000p-7", "0x1.47815a0000000p-7"),
    ("0x1.9930be0000000p-3", "0x1.93d4bc0000000p-3"),
    ("0x1.664c300000000p-1", "0x1.355f0e0000000p-1"),
    ("0x1.ffe5ca0000000p-1", "0x1.85e4aa0000000p-1"),
]


def test_float32_tanh_is_equal_to_the_bit():
    x = np.array([float.fromhex(x) for x, _ in RECORDED], np.float32)
    expected = np.array([float.fromhex(y) for _, y in RECORDED], np.float32)
    assert tf.tanh(tf.constant(x)).numpy().tolist() == expected.tolist()
    for value, result in zip(x, expected):
        assert tf.tanh(tf.constant(value)).numpy() == result
