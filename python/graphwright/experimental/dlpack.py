"""Tensors that share memory with other array libraries: ``tf.experimental.dlpack``."""

from __future__ import annotations

from typing import Any

from graphwright import _core

__all__ = ["from_dlpack", "to_dlpack"]


def __dir__() -> list[str]:
    return sorted(__all__)


def to_dlpack(tf_tensor: Any) -> Any:
    """A DLPack capsule of an eager tensor's memory.

    Whoever takes the capsule must not write to the memory: tensors are immutable.

    Args:
      tf_tensor: An eager tensor of numbers or bools.

    Returns:
      A capsule named ``dltensor``, which can be taken over once.

    Raises:
      InvalidArgumentError: the dtype has no counterpart in DLPack.
    """
    return _core.to_dlpack(tf_tensor)


def from_dlpack(dlcapsule: Any) -> Any:
    """An eager tensor over the memory of a DLPack capsule.

    Dense memory of the CPU is shared, so that later writes of its owner show in the tensor; strided
    memory is copied.

    Args:
      dlcapsule: A capsule, or an object with ``__dlpack__``.

    Raises:
      InvalidArgumentError: the capsule was taken over already, or its memory or element type
        cannot be used.
    """
    return _core.from_dlpack(dlcapsule)
