"""`tf.autograph.experimental`."""

from __future__ import annotations

import enum
import functools
import inspect

from .. import _core
from .directives import set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


def __dir__() -> list[str]:
    return sorted(__all__)


class Feature(enum.Enum):
    """Optional parts of the conversion.

    Attributes:
        ALL: all of them.
        AUTO_CONTROL_DEPS: accepted for compatibility; the order of effects is always kept.
        ASSERT_STATEMENTS: `assert` on tensors.
        BUILTIN_FUNCTIONS: built-in functions applied to tensors.
        EQUALITY_OPERATORS: `==` and `!=` as operators of AutoGraph.
        LISTS: accepted for compatibility.
        NAME_SCOPES: accepted for compatibility.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features, as a tuple."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude) -> tuple[Feature, ...]:
        """All features except `exclude`, a feature or a collection of features."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


def do_not_convert(func=None):
    """Decorator: the function, and what it calls, is not converted by AutoGraph.

    Args:
        func: the function; None (as in `@do_not_convert()`) gives a decorator.

    Returns:
        A callable that does what `func` does.
    """
    if func is None:
        return do_not_convert

    def wrapper(*args, **kwargs):
        before = _core.autograph_enable(False)
        try:
            return func(*args, **kwargs)
        finally:
            _core.autograph_enable(before)

    if inspect.isfunction(func) or inspect.ismethod(func):
        wrapper = functools.update_wrapper(wrapper, func)
    wrapper.autograph_info__ = None  # type: ignore[attr-defined]
    return wrapper
