"""Gradients of functions of complex numbers, with numbers recorded from TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as tf

Z = np.array([1 + 2j, -0.5 + 0.25j, 2 - 1j])
W = np.array([0.5 - 1j, 1 + 1j, -2 + 0.5j])


def raw(name, **attributes):
    return lambda x: getattr(tf.raw_ops, name)(x=x, **attributes)


def part(name):
    return lambda x: getattr(tf.raw_ops, name)(input=x, Tout=tf.float64)


UNARY = {
    "Tanh": [
        -0.302001598235961 - 0.56810302089208j,
        0.803528061219224 - 0.192306803777785j,
        -0.028662776164452 - 0.068626080099511j,
    ],
    "Exp": [
        -1.131204383756814 - 2.471726672004819j,
        0.587675090343923 - 0.150058086622163j,
        3.992324048441272 + 6.217676312367968j,
    ],
    "Log": [0.2 + 0.4j, -1.6 + 0.8j, 0.4 - 0.2j],
    "Sqrt": [
        0.284432240502892 + 0.175788792127071j,
        0.153645038156066 + 0.650850826034644j,
        0.325425413017322 - 0.076822519078033j,
    ],
    "Square": [2 - 4j, -1 - 0.5j, 4 + 2j],
    "Sin": [
        2.032723007019666 + 3.0518977991518j,
        0.905150150559607 - 0.121108796043812j,
        -0.64214812471552 - 1.068607421382778j,
    ],
    "Cos": [
        -3.165778513216168 + 1.959601041421606j,
        0.494485780933195 + 0.221688164149575j,
        -1.40311925062204 + 0.489056259041294j,
    ],
    "Sigmoid": [
        0.140888807569942 + 0.420718279705322j,
        0.238037033306291 - 0.014665206182901j,
        0.081914615425131 - 0.082432531410114j,
    ],
    "Neg": [-1, -1, -1],
    "Reciprocal": [0.12 - 0.16j, -1.92 + 2.56j, -0.12 + 0.16j],
    "Rsqrt": [
        0.01342906875025 - 0.148930654626571j,
        0.766512721877421 + 0.918445291130578j,
        -0.114805661391322 + 0.095814090234678j,
    ],
    "ComplexAbs": [
        0.447213595499958 + 0.894427190999916j,
        -0.894427190999916 + 0.447213595499958j,
        0.894427190999916 - 0.447213595499958j,
    ],
    "Real": [1, 1, 1],
    "Imag": [1j, 1j, 1j],
    "Conj": [1, 1, 1],
}
BINARY = {
    "Mul": ([0.5 + 1j, 1 - 1j, -2 - 0.5j], [1 - 2j, -0.5 - 0.25j, 2 + 1j]),
    "RealDiv": (
        [0.4 - 0.8j, 0.5 + 0.5j, -0.470588235294118 + 0.117647058823529j],
        [1.76 - 0.32j, -0.125 + 0.25j, -0.525951557093426 + 0.013840830449827j],
    ),
    "Sub": ([1, 1, 1], [-1, -1, -1]),
    "SquaredDifference": ([1 + 6j, -3 - 1.5j, 8 - 3j], [-1 - 6j, 3 + 1.5j, -8 + 3j]),
}


def function(name):
    if name in ("Real", "Imag"):
        return part(name)
    if name == "Conj":
        return lambda x: tf.raw_ops.Conj(input=x)
    if name == "ComplexAbs":
        return raw(name, Tout=tf.float64)
    return raw(name)


@pytest.mark.parametrize("name", UNARY)
def test_gradient_of_one_number(name):
    z = tf.constant(Z)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = function(name)(z)
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), UNARY[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", BINARY)
def test_gradient_of_two_numbers(name):
    z, w = tf.constant(Z), tf.constant(W)
    with tf.GradientTape() as tape:
        tape.watch([z, w])
        y = getattr(tf.raw_ops, name)(x=z, y=w)
    for got, wanted in zip(tape.gradient(y, [z, w]), BINARY[name], strict=True):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12, atol=1e-14)


def test_gradient_of_parts():
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.raw_ops.Complex(real=a, imag=b) * tf.constant([1 + 2j, 3 - 1j], tf.complex64)
    da, db = tape.gradient(y, [a, b])
    assert da.numpy().tolist() == [1, 3]
    assert db.numpy().tolist() == [-2, 1]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_tangents_agree_with_differences(name):
    direction = np.array([0.3 - 0.2j, 0.1 + 0.4j, -0.5j])

    def f(x):
        if name in BINARY:
            return getattr(tf.raw_ops, name)(x=x, y=tf.constant(W))
        return function(name)(x)

    z = tf.constant(Z)
    with tf.autodiff.ForwardAccumulator(z, tf.constant(direction)) as accumulator:
        y = f(z)
    step = 1e-6
    ahead = f(tf.constant(Z + step * direction)).numpy()
    behind = f(tf.constant(Z - step * direction)).numpy()
    difference = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), difference, rtol=1e-7, atol=1e-8)
