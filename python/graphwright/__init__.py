"""Graphwright: ordinary Python functions as fast, portable tensor programs.

The package is source-compatible with TensorFlow 2: ``import graphwright as tf``.
"""

from typing import Any

from graphwright import _core, _namespace

__version__ = _core.__version__

newaxis = None

_namespace.hide_inner_modules("graphwright")
_namespace.assemble(globals())
_lazy = _namespace.lazy_attribute("graphwright")


def __getattr__(name: str) -> Any:
    return _lazy(name)


def __dir__() -> list[str]:
    return [*_namespace.public_names(""), "__version__"]
