"""The type specification of tf.TensorArray, and its warning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from graphwright import _core
from graphwright.type_spec import TensorSpec, TypeSpec

TensorArray = _core.TensorArray

_FLOAT32 = _core.as_dtype("float32")
_shown: dict[Any, Any] = {}


def warn_of_lost_change(message: str, filename: str, line: int) -> None:
    """Warns at the user's line, once for each."""
    warnings.warn_explicit(message, UserWarning, filename, line, registry=_shown)


class TensorArraySpec(TypeSpec):
    """The type of a `tf.TensorArray`.

    Args:
      element_shape: What the shapes of all elements have in common; None for unknown.
      dtype: The DType of the elements.
      dynamic_size: Whether writes may make the array grow.
      infer_shape: Whether all elements must have one shape.
    """

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = _FLOAT32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ):
        self._element_shape = _core.TensorShape(element_shape)
        self._dtype = _core.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @property
    def value_type(self) -> type:
        return TensorArray

    @classmethod
    def from_value(cls, value: Any) -> TensorArraySpec:
        """The spec of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: {type(value)}.")
        return cls(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether dtype and growth agree; shapes are not looked at."""
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype == other._dtype
            and self._dynamic_size == other._dynamic_size
        )

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an array could be of both specs, or the array of this one."""
        if not isinstance(other, TypeSpec):
            try:
                other = TensorArraySpec.from_value(other)
            except TypeError:
                return False
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorArraySpec | None:
        """The most specific spec that covers this one and all others; None if there is none."""
        if any(not isinstance(other, TensorArraySpec) for other in others):
            return None
        if any(
            (other._dtype, other._dynamic_size) != (self._dtype, self._dynamic_size)
            for other in others
        ):
            return None
        shape = self._element_shape.most_specific_common_supertype(
            [other._element_shape for other in others]
        )
        infer_shape = self._infer_shape and all(other._infer_shape for other in others)
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infer_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], _core.as_dtype("variant"))]

    def _to_components(self, value: Any) -> list[Any]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but got: {type(value)}.")
        return [_core.tensor_array_list(value)]

    def _from_components(self, components: Any) -> Any:
        array = TensorArray(
            self._dtype,
            flow=components[0],
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
        )
        array._set_element_shape(self._element_shape)
        return array
