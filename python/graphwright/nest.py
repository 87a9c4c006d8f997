"""Functions on nested structures: ``tf.nest``.

A structure is a list, tuple, named tuple, mapping (its keys are sorted), another sequence or a
mapping view, an instance of an attrs class, or one of a dataclass that defines ``__tf_flatten__``
and ``__tf_unflatten__``. Everything else is a leaf, or atom: tensors, arrays, strings, sets,
numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import _core

_nest = _core.nest

__all__ = [
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure, an empty one included, and not a leaf."""
    return _nest.is_nested(seq)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure, depth first; ``[structure]`` for a leaf.

    Args:
      structure: Any value.
      expand_composites: Whether composite tensors and their TypeSpecs are opened too.

    Raises:
      TypeError: the keys of a mapping cannot be sorted.
    """
    return _nest.flatten(structure, expand_composites)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """New leaves in the structure of another value.

    Args:
      structure: What to imitate: its containers' types, keys and default factories are kept.
      flat_sequence: As many leaves as the structure has, in the order of `flatten`.
      expand_composites: Whether composite tensors and their TypeSpecs are opened too.

    Raises:
      ValueError: the number of leaves differs.
      TypeError: `flat_sequence` is no sequence.
    """
    return _nest.pack_sequence_as(structure, flat_sequence, expand_composites)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Calls a function on corresponding leaves; the results in the structure of the first.

    Args:
      func: Takes as many arguments as there are structures.
      *structure: One or more values of one structure.
      **kwargs: ``check_types`` (True): containers must have equal types, mappings excepted.
        ``expand_composites`` (False): composite tensors and their TypeSpecs are opened too.

    Raises:
      TypeError: `func` is not callable, or types of containers differ.
      ValueError: structures differ, or there is none.
    """
    return _nest.map_structure(func, *structure, **kwargs)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that two values have one structure.

    Args:
      nest1: Any value.
      nest2: Any value.
      check_types: Whether containers must have equal types, mappings excepted.
      expand_composites: Whether composite tensors and their TypeSpecs are opened too.

    Raises:
      ValueError: a leaf faces a container, or keys or numbers of elements differ.
      TypeError: types of containers differ, if `check_types`.
    """
    _nest.assert_same_structure(nest1, nest2, check_types, expand_composites)
