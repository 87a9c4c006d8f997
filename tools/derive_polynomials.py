"""Derives the polynomial coefficients that src/formulas/ uses, by Remez's exchange algorithm.

Run with mpmath installed; prints each polynomial, lowest coefficient first, with the largest
weighted error of the unrounded polynomial. Weights make it relative to the whole function.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import mpmath as mp

mp.mp.prec = 200
Function = Callable[[Any], Any]


def remez(
    function: Function, weight: Function, low: Any, high: Any, degree: int
) -> tuple[list[Any], Any]:
    """The polynomial that minimises max |weight * (function - polynomial)|, and that maximum."""
    low, high = mp.mpf(low), mp.mpf(high)
    count, grid = degree + 2, 600
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle + half * mp.cos(mp.pi * (grid - i) / grid) for i in range(grid + 1)]
    samples = [(function(x), weight(x)) for x in points]
    nodes = [middle + half * mp.cos(mp.pi * (count - 1 - i) / (count - 1)) for i in range(count)]
    coefficients: list[Any] = []
    largest = mp.mpf(0)
    for _ in range(12):
        matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                matrix[i, j] = x**j
            matrix[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[j] for j in range(degree + 1)]
        errors = [
            w * (value - mp.polyval(coefficients[::-1], x))
            for x, (value, w) in zip(points, samples, strict=True)
        ]
        largest = max(abs(error) for error in errors)
        if abs(largest - abs(solution[degree + 1])) < largest / 1000:
            break
        # The next nodes: the largest error of each run of one sign, alternating.
        extrema: list[int] = []
        run = [0]
        for i in range(1, len(points)):
            if (errors[i] > 0) == (errors[run[-1]] > 0):
                run.append(i)
            else:
                extrema.append(max(run, key=lambda k: abs(errors[k])))
                run = [i]
        extrema.append(max(run, key=lambda k: abs(errors[k])))
        if len(extrema) < count:
            break
        while len(extrema) > count:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        nodes = [points[i] for i in extrema]
    return coefficients, largest


def near_zero(series: Function, exact: Function, limit: str = "1e-20") -> Function:
    """`exact`, or its leading terms where cancellation would eat its digits."""
    return lambda x: series(x) if abs(x) < mp.mpf(limit) else exact(x)


def show(name: str, polynomial: tuple[list[Any], Any], single: bool) -> None:
    coefficients, error = polynomial
    print(f"{name}: error 2^{float(mp.log(error, 2)):.1f}")
    for value in coefficients:
        number = float(value)
        if single:
            number = struct.unpack("f", struct.pack("f", number))[0]
        print(f"    {number.hex()}")


def main() -> None:
    tiny = mp.mpf("1e-9")
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0005")
    exp_tail = near_zero(lambda r: mp.mpf(1) / 2 + r / 6, lambda r: (mp.expm1(r) - r) / r**2)
    for degree, single in ((4, True), (10, False)):
        fit = remez(exp_tail, lambda r: abs(r) + tiny, -half_ln2, half_ln2, degree)
        show("exp: (e^r - 1 - r) / r^2", fit, single)

    octant = (mp.pi / 4) ** 2 * mp.mpf("1.001")

    def sine(z: Any) -> Any:
        r = mp.sqrt(z)
        return (mp.sin(r) - r) / r**3

    def cosine(z: Any) -> Any:
        return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2

    sine_tail = near_zero(lambda z: -mp.mpf(1) / 6 + z / 120, sine)
    cosine_tail = near_zero(lambda z: mp.mpf(1) / 24 - z / 720, cosine)
    for degree, single in ((2, True), (5, False)):
        fit = remez(sine_tail, lambda z: z + tiny, 0, octant, degree)
        show("sin: (sin r - r) / r^3 in r^2", fit, single)
        fit = remez(cosine_tail, lambda z: z**2 + tiny, 0, octant, degree)
        show("cos: (cos r - 1 + r^2/2) / r^4 in r^2", fit, single)

    low, high = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
    log_tail = near_zero(
        lambda f: mp.mpf(1) / 3 - f / 4, lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, "1e-15"
    )
    widened = mp.mpf("1.0002")
    fit = remez(log_tail, lambda f: f**2 + tiny, low * widened, high * widened, 8)
    show("log, float32: (log(1 + f) - f + f^2/2) / f^3", fit, True)

    widest = (high / (2 + high)) ** 2 * mp.mpf("1.001")

    def atanh_tail(z: Any) -> Any:
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) - 2 * s) / s / z

    def atanh_second_tail(z: Any) -> Any:
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2 - 2 * z / 3) / z**2

    fit = remez(
        near_zero(lambda z: mp.mpf(2) / 3 + z * 2 / 5, atanh_tail),
        lambda z: z / 2 + tiny, 0, widest, 6,
    )  # fmt: skip
    show("log, float64: (2 atanh(s) - 2 s) / s^3 in s^2", fit, False)
    fit = remez(
        near_zero(lambda z: mp.mpf(2) / 5 + z * 2 / 7, atanh_second_tail),
        lambda z: z**2 / 2 + tiny, 0, widest, 6,
    )  # fmt: skip
    show("pow: (2 atanh(s) - 2 s - 2/3 s^3) / s^5 in s^2", fit, False)

    eighth = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.001")

    def arctangent(z: Any) -> Any:
        t = mp.sqrt(z)
        return (mp.atan(t) - t) / t**3

    atan_tail = near_zero(lambda z: -mp.mpf(1) / 3 + z / 5, arctangent)
    for degree, single in ((3, True), (10, False)):
        fit = remez(atan_tail, lambda z: z + tiny, 0, eighth, degree)
        show("atan: (atan t - t) / t^3 in t^2", fit, single)


if __name__ == "__main__":
    main()
