"""Derivatives of random programs: eager, staged in one function, and of a function from outside."""

from __future__ import annotations

import importlib.util
import math

import gradient_programs
import numpy as np
import pytest

import graphwright as tf

POINT = [0.7, -0.4]
FIRST = [0.3, -1.1]
SECOND = [0.9, 0.4]


def load(seed, folder):
    """The program's function of x, from a file: staging reads its source."""
    path = folder / f"program_{seed}.py"
    path.write_text(gradient_programs.program(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.scaled = tf.function(lambda p, q: p * tf.sin(q) + q)
    return lambda x: module.f(tf, x)


def gradient(function, weights=None):
    """x -> the reverse-mode derivative of the (weighted) sum of function(x)."""

    def derivative(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            if weights is not None:
                y = tf.reduce_sum(y * tf.constant(weights, tf.float64))
        return tape.gradient(y, x, unconnected_gradients="zero")

    return derivative


def tangent(function, direction):
    """x -> the forward-mode derivative of function(x) along `direction`."""

    def derivative(x):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(direction, tf.float64)) as accumulator:
            y = function(x)
        return accumulator.jvp(y, unconnected_gradients="zero")

    return derivative


# Ways to the same values: of one order, all results are equal.
def second_order(f):
    return gradient(gradient(f), FIRST)


WAYS = {
    "first": {
        "reverse": gradient,
    },
    "along": {
        "forward": lambda f: tangent(f, FIRST),
    },
    "second": {
        "reverse over reverse": second_order,
        "forward over reverse": lambda f: tangent(gradient(f), FIRST),
        "reverse over forward": lambda f: gradient(tangent(f, FIRST)),
    },
    "second along": {
        "forward over forward": lambda f: tangent(tangent(f, FIRST), SECOND),
    },
    "third": {
        "reverse over reverse over reverse": lambda f: gradient(second_order(f), SECOND),
        "forward over reverse over reverse": lambda f: tangent(second_order(f), SECOND),
        "reverse over forward over reverse": lambda f: gradient(
            tangent(gradient(f), FIRST), SECOND
        ),
        "reverse over reverse over forward": lambda f: gradient(
            gradient(tangent(f, FIRST)), SECOND
        ),
        "forward over forward over reverse": lambda f: tangent(tangent(gradient(f), FIRST), SECOND),
        "forward over reverse over forward": lambda f: tangent(gradient(tangent(f, FIRST)), SECOND),
    },
}


def check(seed, folder):
    function = load(seed, folder)
    x = tf.constant(POINT, tf.float64)
    value = function(x).numpy()
    np.testing.assert_allclose(tf.function(function)(x), value, rtol=1e-12)
    results = {}
    for order, ways in WAYS.items():
        expected = None
        for way, derive in ways.items():
            for tier, run in {
                "eager": lambda derive=derive: derive(function)(x),
                "in one function": lambda derive=derive: tf.function(derive(function))(x),
                "of a function": lambda derive=derive: derive(tf.function(function))(x),
            }.items():
                result = run().numpy()
                if expected is None:
                    expected = results[order] = result
                scale = max(1.0, float(np.max(np.abs(expected))))
                np.testing.assert_allclose(
                    result,
                    expected,
                    rtol=1e-8,
                    atol=1e-10 * scale,
                    err_msg=f"{order}, {way}, {tier}\n{gradient_programs.program(seed)}",
                )
    assert math.isclose(results["along"], results["first"] @ FIRST, rel_tol=1e-8, abs_tol=1e-9)
    assert math.isclose(
        results["second along"], results["second"] @ SECOND, rel_tol=1e-8, abs_tol=1e-8
    )


@pytest.mark.parametrize("seed", range(8))
def test_derivatives_of_random_programs(seed, tmp_path):
    check(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8, 200))
def test_derivatives_of_more_random_programs(seed, tmp_path):
    check(seed, tmp_path)
