"""Functions whose form may still change: ``tf.experimental``."""

from __future__ import annotations

from graphwright.dtypes.experimental import float8_e4m3fn, float8_e5m2
from graphwright.experimental import dlpack

__all__ = ["dlpack", "float8_e4m3fn", "float8_e5m2"]


def __dir__() -> list[str]:
    return sorted(__all__)
