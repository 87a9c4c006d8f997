"""tf.vectorized_map beyond what test_control_flow_recorded.py compares."""

import warnings

import numpy as np
import pytest

import graphwright as tf

ROWS = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def looping(row):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), (0, row))[1]


def test_falling_back_to_a_loop_warns():
    with pytest.warns(UserWarning, match="Using a while_loop for converting"):
        result = tf.vectorized_map(looping, ROWS)
    np.testing.assert_array_equal(result, ROWS.numpy() * 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(
            tf.vectorized_map(looping, ROWS, warn=False), ROWS.numpy() * 8
        )
    with pytest.raises(ValueError, match="cannot be vectorized"):
        tf.vectorized_map(looping, ROWS, fallback_to_while_loop=False)


def test_what_was_recorded_before_falling_back_is_dropped():
    @tf.function(autograph=False)
    def mapped(rows):
        return tf.vectorized_map(lambda row: looping(tf.sin(row)), rows, warn=False)

    np.testing.assert_allclose(mapped(ROWS), np.sin(ROWS.numpy()) * 8, rtol=1e-6)
    top = mapped.get_concrete_function(ROWS).graph.as_graph_def().node
    assert [node.op for node in top].count("Sin") == 0


def test_effects_happen_for_every_row(capfd):
    def shows(row):
        tf.print(row[0])
        return row

    tf.vectorized_map(shows, ROWS, warn=False)
    assert capfd.readouterr().err == "1\n3\n5\n"


def test_variables_and_captured_tensors_are_the_same_for_all_rows():
    v = tf.Variable([10.0, 20.0])
    shift = tf.constant(np.arange(400.0).reshape(200, 2), tf.float32)
    result = tf.vectorized_map(lambda row: row * v + shift[7], ROWS)
    np.testing.assert_allclose(result, ROWS.numpy() * [10, 20] + [14, 15])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.vectorized_map(lambda row: row * v, ROWS))
    np.testing.assert_allclose(tape.gradient(total, v), ROWS.numpy().sum(0))


def test_calls_are_walked_into():
    @tf.function
    def double(row):
        return row * 2

    np.testing.assert_array_equal(
        tf.vectorized_map(lambda row: double(row) + 1, ROWS), ROWS.numpy() * 2 + 1
    )


def test_unknown_numbers_of_rows():
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def mapped(rows):
        return tf.vectorized_map(lambda row: tf.reduce_sum(row) * tf.ones([2]), rows)

    np.testing.assert_array_equal(mapped(ROWS), [[3, 3], [7, 7], [11, 11]])
    assert mapped(tf.zeros([0, 2])).shape == (0, 2)


@pytest.mark.parametrize(
    ("fn", "elems", "error"),
    [
        (lambda r: r, [], ValueError),
        (lambda r: r[0], (ROWS, tf.constant([1, 2])), ValueError),
        (lambda r: object(), ROWS, TypeError),
        (lambda r: r + "a", ROWS, TypeError),
    ],
)
def test_errors(fn, elems, error):
    with pytest.raises(error):
        tf.vectorized_map(fn, elems)


def test_rows_of_a_graph_are_mapped_in_a_graph():
    doubled = lambda v: tf.while_loop(lambda a: a < 100.0, lambda a: a * 2.0, [v])[0]  # noqa: E731
    with pytest.warns(UserWarning, match="while_loop"):
        result = tf.vectorized_map(doubled, tf.constant([1.0, 2.0]))
    assert result.numpy().tolist() == [128.0, 128.0]
