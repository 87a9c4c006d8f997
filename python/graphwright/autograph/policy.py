"""Which of the functions that converted code calls are converted as well."""

from __future__ import annotations

import inspect
import sys
import types
import warnings

from . import log

# Packages whose functions run as they are: libraries that either do not take tensors or take care
# of them by themselves.
_UNCONVERTED_PACKAGES = frozenset(
    {
        "absl",
        "graphwright",
        "keras",
        "matplotlib",
        "mock",
        "numpy",
        "pandas",
        "PIL",
        "pytest",
        "scipy",
        "sklearn",
        "tensorflow",
        "tensorflow_probability",
        "tf_keras",
    }
) | (frozenset(sys.stdlib_module_names) - {"__main__"})

_NOT_PLAIN = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def is_converted(function: types.FunctionType) -> bool:
    """Whether AutoGraph converts the function when converted code calls it."""
    if function.__code__.co_flags & _NOT_PLAIN:
        return False
    if function.__code__.co_filename == "<string>":
        return False  # made by exec: there is no source
    if hasattr(function, "autograph_info__"):
        return False
    module = getattr(function, "__module__", None) or function.__globals__.get("__name__", "")
    return module.partition(".")[0] not in _UNCONVERTED_PACKAGES


def warn_unconverted(function: types.FunctionType, error: BaseException) -> None:
    """Says that a function will run as it is, and why."""
    message = (
        f"AutoGraph could not transform {function!r} and will run it as-is.\nCause: {error}\n"
        "To silence this warning, decorate the function with"
        " @tf.autograph.experimental.do_not_convert"
    )
    log.log(1, message)
    warnings.warn(message, stacklevel=2)
