"""Hashable references to tensors and variables, which themselves compare element by element."""

from __future__ import annotations

from typing import Any


class Reference:
    """What ``tensor.ref()`` returns: equal for the same tensor or variable, and a key for dicts."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The tensor or variable referred to."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return (
            type(self._wrapped) is type(other._wrapped) and self._wrapped._id == other._wrapped._id
        )

    def __hash__(self) -> int:
        return hash(self._wrapped._id)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
