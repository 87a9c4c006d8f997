"""The protocol by which values and types take part in tracing: ``tf.types.experimental``."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any

from graphwright import _core


class TraceType(metaclass=abc.ABCMeta):
    """How a function sees the type of an argument.

    Two calls share a trace where the types of their arguments are equal, or where the types of the
    second are subtypes of those that the trace was made for. Types are immutable and hashable.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace for `other` also serves values of this type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The most specific type that covers this one and all others; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What stands for the argument while its function is traced."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that a value of this type is made of."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """A value of this type around the next tensors of an iterator."""
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        """The types of the tensors that a value of this type is made of."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """The value as one of this type; AssertionError if it is not one already."""
        if value != self.placeholder_value(None):
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


class SupportsTracingProtocol(metaclass=abc.ABCMeta):
    """A value that says itself of which TraceType it is."""

    @abc.abstractmethod
    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The type of the value."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        if cls is SupportsTracingProtocol:
            return any("__tf_tracing_type__" in base.__dict__ for base in subclass.__mro__)
        return NotImplemented


TraceType.register(_core.DType)
TraceType.register(_core.TensorShape)
