"""Random numbers that depend on seeds alone: TensorFlow 2.21's bits."""

import numpy as np
import pytest

import graphwright as tf

VALUES = [
    (
        "tf.random.stateless_uniform([5],[1,2])",
        (
            "float32",
            [5],
            [
                0.8440604209899902,
                0.19204533100128174,
                0.9962232112884521,
                0.16038739681243896,
                0.27199018001556396,
            ],
        ),
    ),
    (
        "tf.random.stateless_uniform([3],[7,-9],-2.,3.,tf.float64)",
        ("float64", [3], [1.0838711777863157, 2.946504352956712, -1.7211058119086091]),
    ),
    (
        "tf.random.stateless_uniform([3],[7,9],dtype=tf.float16)",
        ("float16", [3], [0.8564453125, 0.845703125, 0.927734375]),
    ),
    (
        "tf.random.stateless_uniform([3],[7,9],dtype=tf.bfloat16)",
        ("bfloat16", [3], [0.8515625, 0.765625, 0.421875]),
    ),
    (
        "tf.random.stateless_uniform([6],[1,2],0,100,tf.int32)",
        ("int32", [6], [40, 49, 94, 79, 27, 65]),
    ),
    ("tf.random.stateless_uniform([3],[1,2],-5,5,tf.int64)", ("int64", [3], [-1, 3, 2])),
    (
        "tf.random.stateless_uniform([3],[1,2],None,None,tf.int32)",
        ("int32", [3], [1105988140, 1738052849, -335576002]),
    ),
    (
        "tf.random.stateless_uniform([3],[1,2],None,None,tf.uint64)",
        ("uint64", [3], [7464880146280614444, 1591045637757961278, 17389275318164050067]),
    ),
    (
        "tf.random.stateless_normal([5],[1,2])",
        (
            "float32",
            [5],
            [
                0.544110119342804,
                0.20738030970096588,
                0.0735643208026886,
                0.04643455147743225,
                -1.301589846611023,
            ],
        ),
    ),
    (
        "tf.random.stateless_normal([3],[1,2],5.,2.,tf.float64)",
        ("float64", [3], [4.715376379962158, 6.481214492317019, 2.061904661112234]),
    ),
    (
        "tf.random.stateless_truncated_normal([9],[3,4])",
        (
            "float32",
            [9],
            [
                -0.17393383383750916,
                1.6723546981811523,
                0.3481701612472534,
                -1.7038906812667847,
                0.6385190486907959,
                -1.309924602508545,
                -0.010434313677251339,
                -1.0422205924987793,
                -0.7741751074790955,
            ],
        ),
    ),
    (
        "tf.random.stateless_truncated_normal([5],[3,4],dtype=tf.float64)",
        (
            "float64",
            [5],
            [
                -0.33108455971554474,
                0.027812399664981575,
                -0.3426617871510759,
                0.7552056484940203,
                -0.5822817890198345,
            ],
        ),
    ),
    (
        "tf.random.stateless_truncated_normal([5],[3,4],dtype=tf.float16)",
        ("float16", [5], [-0.1739501953125, 1.671875, 0.34814453125, -1.7041015625, 0.638671875]),
    ),
    (
        "tf.random.stateless_normal([2,2],[1,2],[1.,10.],alg='philox')",
        (
            "float32",
            [2, 2],
            [[1.5441100597381592, 10.207380294799805], [1.0735642910003662, 10.04643440246582]],
        ),
    ),
    (
        "tf.reduce_sum(tf.random.stateless_truncated_normal([10000],[3,4]))",
        ("float32", [], -176.9737091064453),
    ),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_values(expression, expected):
    for value in (eval(expression), tf.function(lambda: eval(expression), autograph=False)()):
        dtype, shape, elements = expected
        assert (value.dtype.name, value.shape.as_list()) == (dtype, shape)
        # The library's logarithm and sine may differ in the last bit.
        if "normal" in expression:
            np.testing.assert_allclose(np.float64(value.numpy()), elements, rtol=3e-5)
        else:
            assert value.numpy().tolist() == elements


def test_seeds_as_tensors_and_in_loops():
    @tf.function
    def draw(n):
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += tf.random.stateless_uniform([], tf.stack([i, 3]))
        return total

    expected = sum(float(tf.random.stateless_uniform([], [i, 3])) for i in range(5))
    assert float(draw(5)) == pytest.approx(expected, rel=1e-6)
    assert float(draw(5)) == float(draw(5))
