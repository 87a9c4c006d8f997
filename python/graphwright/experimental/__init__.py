"""Functions whose form may still change: ``tf.experimental``."""

from __future__ import annotations

from graphwright.experimental import dlpack

__all__ = ["dlpack"]
