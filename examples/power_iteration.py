"""The direction in which iris flowers vary most: the leading eigenvector of a covariance matrix.

Power iteration multiplies a vector by the matrix and scales it to length one, until it stops
turning. How often is not known beforehand, so the loop runs on a tensor. The same function is run
eagerly and staged by `tf.function`, where the `while` becomes a loop in the graph.
"""

import csv
import time
from pathlib import Path

import graphwright as tf

TABLE = Path(__file__).resolve().parent / "data" / "iris.csv"
COLUMNS = ("sepal_length_cm", "sepal_width_cm", "petal_length_cm", "petal_width_cm")


def read_measurements():
    """The table's four measurements as a [150, 4] float32 tensor, in cm."""
    with TABLE.open(newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tf.constant([[float(row[column]) for column in COLUMNS] for row in rows])


def covariance(samples):
    """The unbiased [n, n] covariance matrix of [samples, n] values."""
    count = samples.shape[0]
    centered = samples - tf.reduce_mean(samples, axis=0)
    return tf.matmul(centered, centered, transpose_a=True) / (count - 1)


def leading_eigenvector(matrix, tolerance):
    """The [n, 1] eigenvector of the largest eigenvalue by magnitude, that value, and the steps."""
    vector = tf.ones([4, 1]) / 2.0
    change = tf.constant(1.0)
    steps = 0
    while change > tolerance:
        product = tf.matmul(matrix, vector)
        turned = product / tf.sqrt(tf.reduce_sum(product * product))
        change = tf.reduce_max(tf.abs(turned - vector))
        vector = turned
        steps += 1
    eigenvalue = tf.reduce_sum(vector * tf.matmul(matrix, vector))
    return vector, eigenvalue, steps


def best_time(function, *arguments):
    """The shortest of 50 calls, in microseconds."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def main():
    matrix = covariance(read_measurements())
    tolerance = tf.constant(1e-6)
    staged = tf.function(leading_eigenvector)
    for how, function in (("eager", leading_eigenvector), ("staged", staged)):
        vector, eigenvalue, steps = function(matrix, tolerance)
        direction = ", ".join(f"{value:+.4f}" for value in vector.numpy()[:, 0])
        print(
            f"{how:>6}: direction ({direction}), variance {float(eigenvalue):.4f} cm^2, "
            f"{int(steps)} steps, {best_time(function, matrix, tolerance):.0f} us"
        )


if __name__ == "__main__":
    main()
