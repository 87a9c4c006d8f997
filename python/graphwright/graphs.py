"""Graphs built by hand: placeholders, and the default graph."""

from __future__ import annotations

from typing import Any

from graphwright import _core

_default_graph: Any = None


def get_default_graph() -> Any:
    """The graph that ops go to now; while executing eagerly, one that the process has for this."""
    global _default_graph
    current = _core.get_default_graph()
    if current is not None:
        return current
    if _default_graph is None:
        _default_graph = _core.Graph()
    return _default_graph


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of a graph whose value is given when the graph is run (``prune`` with it as a feed).

    Args:
        dtype: of the tensor.
        shape: what is known of its shape; None if nothing is.
        name: of the operation.

    Raises:
        RuntimeError: ops run eagerly here, so there is no graph to put it into.
    """
    if _core.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _core.raw_op("Placeholder")(
        dtype=_core.as_dtype(dtype), shape=_core.TensorShape(shape), name=name
    )
