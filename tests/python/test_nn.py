"""Functions of neural networks, against recorded values."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

X = tf.constant([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


def test_softmax():
    np.testing.assert_allclose(
        tf.nn.softmax(X).numpy(),
        [
            [0.11849965155124664, 0.00589974969625473, 0.8756005764007568],
            [0.02912176214158535, 0.9643803238868713, 0.006497942842543125],
        ],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        tf.nn.log_softmax(X, axis=0).numpy(),
        [
            [-0.4740769863128662, -6.002475738525391, -0.018149960786104202],
            [-0.9740769863128662, -0.0024756519123911858, -4.0181498527526855],
        ],
        rtol=1e-5,
        atol=1e-7,
    )
    np.testing.assert_allclose(tf.nn.softmax(X, axis=0).numpy().sum(0), np.ones(3), rtol=1e-6)
    half = tf.nn.softmax(tf.cast(X, tf.float16))
    np.testing.assert_array_equal(half.numpy(), tf.cast(tf.nn.softmax(X), tf.float16).numpy())
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.softmax(X, axis=2)


def test_cross_entropies():
    np.testing.assert_allclose(
        tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], X).numpy(),
        [0.13284526765346527, 3.5362696647644043],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        tf.nn.sigmoid_cross_entropy_with_logits(
            labels=[[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], logits=X
        ).numpy(),
        [
            [0.3132616877555847, 0.12692800164222717, 0.04858735203742981],
            [0.9740769863128662, 4.0181498527526855, 1.3132617473602295],
        ],
        rtol=1e-6,
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        tf.nn.sparse_softmax_cross_entropy_with_logits([3, 0], X)
    logits = tf.zeros([2, 2, 3])
    assert tf.nn.sparse_softmax_cross_entropy_with_logits([[0, 1], [2, 0]], logits).shape == (2, 2)


def test_activations_and_biases():
    assert tf.nn.relu(X).numpy().tolist() == [[1, 0, 3], [0.5, 4, 0]]
    np.testing.assert_allclose(
        tf.nn.leaky_relu(X).numpy(), np.where(X.numpy() > 0, X, 0.2 * X.numpy()), rtol=1e-6
    )
    assert tf.nn.bias_add(X, [1.0, 2.0, 3.0]).numpy().tolist() == [[2, 0, 6], [1.5, 6, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.bias_add(X, [1.0, 2.0])
    np.testing.assert_allclose(
        tf.math.l2_normalize(X, axis=1).numpy(),
        [
            [0.26726123690605164, -0.5345224738121033, 0.8017836809158325],
            [0.12038585543632507, 0.9630868434906006, -0.24077171087265015],
        ],
        rtol=1e-6,
    )
    assert tf.nn.l2_loss(X).numpy() == 15.625
    assert tf.clip_by_value(X, -1.0, 1.0).numpy().tolist() == [[1, -1, 1], [0.5, 1, -1]]
