"""Calls that tell AutoGraph about the code around them, and do nothing when that code runs."""

from __future__ import annotations


def set_loop_options(
    parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None
) -> None:
    """Sets options of the `while` or `for` loop whose first statement this call is.

    It has effect only in code that AutoGraph converts, on a loop that becomes part of a graph.

    Args:
        parallel_iterations: how many iterations may run at once.
        swap_memory: accepted for compatibility; nothing is ever swapped.
        maximum_iterations: an integer (Python or scalar tensor): the loop ends after so many.
        shape_invariants: a list of pairs (variable, tf.TensorShape): the shape that the variable
            keeps to in every iteration, where that is less specific than its initial shape.
    """
