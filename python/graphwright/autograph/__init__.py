"""Conversion of plain Python functions into ones whose control flow can become part of a graph.

`tf.function` applies it by itself; the functions here show and control it.
"""

from __future__ import annotations

import inspect
import textwrap
import types

from .. import _core
from . import builtin_functions, experimental
from .log import set_verbosity, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def __dir__() -> list[str]:
    return sorted(__all__)


builtin_functions.register()


class ConversionError(Exception):
    """Raised by `to_graph` and `to_code` when a function cannot be converted."""


def _plain_function(entity) -> types.FunctionType:
    if inspect.ismethod(entity):
        entity = entity.__func__
    if inspect.isfunction(entity):
        return entity
    if not hasattr(entity, "__code__"):
        raise ConversionError(
            f"converting {entity!r}: ValueError: Cannot apply autograph to a function that doesn't "
            "expose a __code__ object. If this is a @tf.function, try passing f.python_function "
            "instead."
        )
    raise NotImplementedError(f"Non-function: {type(entity)}")


def _feature_names(features) -> list[str]:
    if features is None:
        return []
    if isinstance(features, experimental.Feature):
        features = (features,)
    return sorted(feature.name for feature in features)


def to_code(entity, recursive: bool = True, experimental_optional_features=None) -> str:
    """Returns the text of the function that AutoGraph makes of `entity`, for reading.

    Args:
        entity: a Python function, lambda or method; of a tf.function, pass its `python_function`.
        recursive: whether functions that it calls are converted as well.
        experimental_optional_features: None, a `tf.autograph.experimental.Feature`, or several.

    Raises:
        ConversionError: the source cannot be found.
        NotImplementedError: a construct cannot be converted; the message names it and its line.
    """
    function = _plain_function(entity)
    try:
        text = _core.autograph_to_code(
            function, recursive, _feature_names(experimental_optional_features)
        )
    except (ValueError, AttributeError, KeyError, NameError) as error:
        raise ConversionError(f"converting {entity!r}: {type(error).__name__}: {error}") from error
    return textwrap.dedent(text + "\n")


def to_graph(entity, recursive: bool = True, experimental_optional_features=None):
    """Returns the function that AutoGraph makes of `entity`.

    It has the same signature, defaults and variables as `entity` (a method becomes a function with
    `self` as its first argument); `if`, `while` and `for` on tensors become part of the graph that
    it is called in.

    Args:
        entity: a Python function, lambda or method; of a tf.function, pass its `python_function`.
        recursive: whether functions that it calls are converted as well.
        experimental_optional_features: accepted for compatibility.

    Raises:
        ConversionError: the source cannot be found.
        NotImplementedError: a construct cannot be converted; the message names it and its line.
    """
    del experimental_optional_features
    function = _plain_function(entity)
    try:
        return _core.autograph_convert(function, recursive)
    except (ValueError, AttributeError, KeyError, NameError) as error:
        raise ConversionError(f"converting {entity!r}: {type(error).__name__}: {error}") from error
