"""What converted code calls in place of Python's built-in functions.

On Python values, and on tensors outside a graph, each is the built-in itself; on tensors of a graph
being built it is the op that means the same.
"""

from __future__ import annotations

import builtins

from .. import _core

_Symbolic = _core.SymbolicTensor


def _any_symbolic(values) -> bool:
    return builtins.any(isinstance(value, _Symbolic) for value in values)


def range(*args):
    """`range`; with tensors, a tensor that a loop counts without making it."""
    if not _any_symbolic(args):
        return builtins.range(*args)
    import graphwright as tf

    # Where Python's range is empty, tf.range would be an error.
    if len(args) == 1:
        return tf.range(tf.maximum(args[0], 0))
    if len(args) == 2:
        return tf.range(args[0], tf.maximum(args[0], args[1]))
    return tf.range(*args)


def len(value):
    """`len`; of a tensor, the size of its first dimension: an int where that is known.

    Of a TensorArray, its size, a tensor.
    """
    if isinstance(value, _core.TensorArray):
        return value.size()
    if not isinstance(value, _Symbolic):
        return builtins.len(value)
    import graphwright as tf

    if value.shape.rank == 0:
        raise ValueError("len requires a tensor of rank 1 or higher, got a scalar")
    if value.shape.rank is not None and value.shape[0] is not None:
        return value.shape[0]
    tf.shape(value)  # TensorFlow's own makes two; the traces are alike
    return tf.shape(value)[0]


def float(value=0.0):
    """`float`; of a tensor, the tensor as float32."""
    if not isinstance(value, _Symbolic):
        return builtins.float(value)
    import graphwright as tf

    return tf.cast(value, tf.float32)


def int(*args, **kwargs):
    """`int`; of a tensor, the tensor as int32."""
    if not (args and isinstance(args[0], _Symbolic)):
        return builtins.int(*args, **kwargs)
    import graphwright as tf

    return tf.cast(args[0], tf.int32)


def _extreme(name: str, builtin, args, kwargs):
    if not _any_symbolic(args):
        return builtin(*args, **kwargs)
    import graphwright as tf

    if kwargs:
        raise ValueError(
            f"{name}() on tensors takes no keyword arguments; got {', '.join(sorted(kwargs))}"
        )
    reduce = tf.reduce_max if name == "max" else tf.reduce_min
    if builtins.len(args) == 1:
        rank = args[0].shape.rank
        if rank == 0:
            return args[0]
        if rank == 1:
            return reduce(args[0], axis=0)
        raise ValueError(f"{name}(arg) takes a tensor of rank 1, but got one of rank {rank}")
    for arg in args:
        shape = getattr(arg, "shape", ())
        if getattr(shape, "rank", builtins.len(shape)) != 0:
            raise ValueError(
                f"{name}(arg1, arg2, *args) takes scalar tensors, but got one of shape {shape}"
            )
    return reduce(tf.stack(args), axis=0)


def max(*args, **kwargs):
    """`max`; of a vector its largest element, of scalar tensors the largest of them."""
    return _extreme("max", builtins.max, args, kwargs)


def min(*args, **kwargs):
    """`min`; of a vector its smallest element, of scalar tensors the smallest of them."""
    return _extreme("min", builtins.min, args, kwargs)


def _quantifier(name: str, builtin, value):
    if not isinstance(value, _Symbolic):
        return builtin(value)
    import graphwright as tf

    if value.shape.rank != 1:
        raise ValueError(f"{name}() takes a tensor of rank 1, but got one of shape {value.shape}")
    return (tf.reduce_all if name == "all" else tf.reduce_any)(value)


def all(value):
    """`all`; of a vector of bools, whether all are true."""
    return _quantifier("all", builtins.all, value)


def any(value):
    """`any`; of a vector of bools, whether one is true."""
    return _quantifier("any", builtins.any, value)


def register() -> None:
    """Makes converted code call the functions of this module."""
    for function in (all, any, float, int, len, max, min, range):
        _core.autograph_set_overload(getattr(builtins, function.__name__), function)
