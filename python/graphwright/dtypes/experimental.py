"""Element types that few ops take: ``tf.dtypes.experimental``."""

from __future__ import annotations

from graphwright._core import dtypes_by_name

float8_e5m2 = dtypes_by_name["float8_e5m2"]
float8_e4m3fn = dtypes_by_name["float8_e4m3fn"]

__all__ = ["float8_e4m3fn", "float8_e5m2"]


def __dir__() -> list[str]:
    return sorted(__all__)
