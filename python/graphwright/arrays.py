"""Functions of tensors whose Python signatures no row of the tables can have."""

from __future__ import annotations

from typing import Any

import graphwright as tf


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """The coordinates of the grid that the values of each argument span, one tensor for each.

    ``indexing='xy'`` (the default) lets the first argument run along columns and the second along
    rows, ``'ij'`` lets argument i run along dimension i. Arguments are flattened.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        key = next(iter(kwargs))
        raise TypeError(f"'{key}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    with tf.name_scope(name):
        rank = len(args)
        tensors = [tf.convert_to_tensor(value) for value in args]
        places = list(range(rank))
        if indexing == "xy" and rank > 1:
            places[:2] = 1, 0
        sizes = [tf.size(tensor) for tensor in tensors]
        shape = [sizes[places[i]] for i in range(rank)]
        result = []
        for tensor, place in zip(tensors, places):
            along = [-1 if i == place else 1 for i in range(rank)]
            result.append(tf.broadcast_to(tf.reshape(tensor, along), tf.stack(shape)))
        return result


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = tf.int32,
    name: str | None = None,
) -> Any:
    """The ``k`` largest elements along the last dimension, largest first, and their indices.

    Of equal elements the one with the lower index comes first. InvalidArgumentError (ValueError
    while tracing) when the dimension has fewer than ``k``. Returns a named tuple (values, indices).
    """
    return tf.raw_ops.TopKV2(
        input=tf.convert_to_tensor(input), k=k, sorted=sorted, index_type=index_type, name=name
    )
