"""What pickles of tensors and functions call when they are loaded."""

from __future__ import annotations

import importlib
from typing import Any

from graphwright import _core


def restore_tensor(value: Any, dtype: str) -> _core.Tensor:
    """The eager tensor of a NumPy value."""
    return _core.constant(value, dtype)


def function_of_name(name: str) -> Any:
    """The function of a public name: "math.tanh"."""
    path, _, attribute = name.rpartition(".")
    module = importlib.import_module("graphwright")
    for part in filter(None, path.split(".")):
        module = getattr(module, part)
    return getattr(module, attribute)
