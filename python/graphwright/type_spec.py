"""Type specifications: the static types of tensors and of values that several tensors make up."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphwright import _core
from graphwright.trace_type import TraceType

_nest = _core.nest
_FLOAT32 = _core.as_dtype("float32")


class CompositeTensor(metaclass=abc.ABCMeta):
    """A value that is made of several tensors, described by its ``_type_spec``."""

    @property
    @abc.abstractmethod
    def _type_spec(self) -> TypeSpec:
        """The TypeSpec that takes the value apart and puts it together."""


def _compatible(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, _core.TensorShape):
        return isinstance(theirs, _core.TensorShape) and mine.is_compatible_with(theirs)
    if isinstance(mine, TypeSpec):
        return isinstance(theirs, TypeSpec) and mine.is_compatible_with(theirs)
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, (tuple, list)):
        return len(mine) == len(theirs) and all(map(_compatible, mine, theirs))
    if isinstance(mine, dict):
        return mine.keys() == theirs.keys() and all(_compatible(mine[k], theirs[k]) for k in mine)
    return bool(mine == theirs)


def _subtype(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, (_core.TensorShape, TypeSpec, TraceType)):
        return mine.is_subtype_of(theirs)
    if type(mine) is not type(theirs):
        return False
    if isinstance(mine, (tuple, list)):
        return len(mine) == len(theirs) and all(map(_subtype, mine, theirs))
    if isinstance(mine, dict):
        return mine.keys() == theirs.keys() and all(_subtype(mine[k], theirs[k]) for k in mine)
    return bool(mine == theirs)


class _NoSupertypeError(Exception):
    pass


def _supertype(mine: Any, others: Sequence[Any]) -> Any:
    if isinstance(mine, (_core.TensorShape, TypeSpec, TraceType)):
        result = mine.most_specific_common_supertype(others)
        if result is None:
            raise _NoSupertypeError
        return result
    if any(type(other) is not type(mine) for other in others):
        raise _NoSupertypeError
    if isinstance(mine, (tuple, list)):
        if any(len(other) != len(mine) for other in others):
            raise _NoSupertypeError
        items = [_supertype(item, [o[i] for o in others]) for i, item in enumerate(mine)]
        return type(mine)(*items) if hasattr(mine, "_fields") else type(mine)(items)
    if isinstance(mine, dict):
        if any(other.keys() != mine.keys() for other in others):
            raise _NoSupertypeError
        return {key: _supertype(mine[key], [other[key] for other in others]) for key in mine}
    if any(not bool(other == mine) for other in others):
        raise _NoSupertypeError
    return mine


def _hashable(item: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return tuple(map(_hashable, item))
    if isinstance(item, dict):
        return tuple(sorted((key, _hashable(value)) for key, value in item.items()))
    if hasattr(item, "tobytes"):
        return (item.shape, item.tobytes())
    return item


class TypeSpec(TraceType, metaclass=abc.ABCMeta):
    """The static type of a value: what is known of it before it exists.

    Subclasses say how a value is taken apart into tensors and put together again, and serialise to
    a tuple from which equality, hashing, compatibility and supertypes follow.
    """

    @property
    @abc.abstractmethod
    def value_type(self) -> type:
        """The Python type of values of this spec."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments from which the constructor makes an equal spec."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """The specs of the components, nested as `_to_components` nests them."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The tensors and composite tensors that a value is made of, as a nest."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value made of components."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether some value has both this spec and the other, or whether the value has it."""
        if not isinstance(spec_or_value, TypeSpec):
            try:
                spec_or_value = type_spec_from_value(spec_or_value)
            except (TypeError, ValueError):
                return False
        if type(self) is not type(spec_or_value):
            return False
        return _compatible(self._serialize(), spec_or_value._serialize())

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every value of this spec is one of the other."""
        if type(self) is not type(other):
            return False
        return _subtype(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The most specific spec that covers this one and all others; None if there is none."""
        if any(type(other) is not type(self) for other in others):
            return None
        try:
            merged = _supertype(self._serialize(), [other._serialize() for other in others])
        except _NoSupertypeError:
            return None
        return self._deserialize(merged)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The most specific spec that covers both. ValueError if there is none."""
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A value of placeholders, one for each tensor."""
        specs = _nest.flatten(self._component_specs, expand_composites=True)
        placeholders = [spec.placeholder_value(placeholder_context) for spec in specs]
        return self._from_components(
            _nest.pack_sequence_as(self._component_specs, placeholders, expand_composites=True)
        )

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors that a value is made of."""
        return list(_nest.flatten(self._to_components(value), expand_composites=True))

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """A value around the next tensors of an iterator."""
        components = [next(tensors) for _ in self._flat_tensor_specs]
        return self._from_compatible_tensor_list(components)

    def flatten(self) -> list[TypeSpec]:
        """The specs of the tensors that a value is made of."""
        return list(self._flat_tensor_specs)

    def cast(self, value: Any, cast_context: Any) -> Any:
        """The value, if it has this spec. AssertionError otherwise."""
        if not self.is_compatible_with(value):
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return list(_nest.flatten(self._component_specs, expand_composites=True))

    def _to_tensor_list(self, value: Any) -> list[Any]:
        if not self.is_compatible_with(value):
            raise ValueError(f"The type of `value` is not compatible with {self}: {value!r}.")
        return self.to_tensors(value)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list):
            raise ValueError(
                f"Cannot create a {self.value_type.__name__} from the tensor list because the "
                f"TypeSpec expects {len(specs)} items, but the provided tensor list has "
                f"{len(tensor_list)} items."
            )
        for i, (spec, tensor) in enumerate(zip(specs, tensor_list, strict=True)):
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"Cannot create a {self.value_type.__name__} from the tensor list because "
                    f"item {i} ({tensor!r}) is incompatible with the expected TypeSpec {spec}."
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return self._from_components(
            _nest.pack_sequence_as(self._component_specs, list(tensor_list), expand_composites=True)
        )

    def _with_tensor_ranks_only(self) -> TypeSpec:
        def relax(item: Any) -> Any:
            if isinstance(item, _core.TensorShape):
                return _core.TensorShape(None if item.rank is None else [None] * item.rank)
            if isinstance(item, TypeSpec):
                return item._with_tensor_ranks_only()
            return item

        return self._deserialize(_nest.map_structure(relax, self._serialize()))

    def _without_tensor_names(self) -> TypeSpec:
        def rename(item: Any) -> Any:
            return item._without_tensor_names() if isinstance(item, TypeSpec) else item

        return self._deserialize(_nest.map_structure(rename, self._serialize()))

    def __tf_tracing_type__(self, context: Any) -> TypeSpec:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        return _hashable(self._serialize()) == _hashable(other._serialize())

    def __hash__(self) -> int:
        return hash((type(self), _hashable(self._serialize())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()}"


class BatchableTypeSpec(TypeSpec):
    """A TypeSpec whose values can be batched along a new first dimension."""

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of a batch of values."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The spec of one value of a batch."""

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return list(_nest.flatten(self._component_specs, expand_composites=True))


class TensorSpec(BatchableTypeSpec):
    """The dtype and shape of a tensor.

    Args:
      shape: A TensorShape or anything that converts to one; None for unknown rank.
      dtype: A DType or anything that converts to one.
      name: A name for the tensor, or None.
    """

    def __init__(self, shape: Any, dtype: Any = _FLOAT32, name: Any = None):
        self._shape = _core.TensorShape(shape)
        self._dtype = _core.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> Any:
        """The TensorShape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The DType."""
        return self._dtype

    @property
    def name(self) -> Any:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        return _core.Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec with the shape and dtype of another, or of anything that has both."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor. ValueError for anything else."""
        if not isinstance(tensor, _core.Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        if name is None and isinstance(tensor, _core.SymbolicTensor):
            name = tensor.name.split(":")[0]
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The class of the message that `experimental_as_proto` gives."""
        from graphwright import _protobuf

        return _protobuf.message_class("TensorSpecProto")

    def experimental_as_proto(self) -> Any:
        """The TensorSpecProto message."""
        message = self.experimental_type_proto()(name=self.name or "")
        message.shape.CopyFrom(self.shape.as_proto())
        message.dtype = self.dtype.as_datatype_enum
        return message

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> TensorSpec:
        """The TensorSpec of a message."""
        shape = None
        if not proto.shape.unknown_rank:
            shape = [None if dim.size < 0 else dim.size for dim in proto.shape.dim]
        return cls(shape, _core.as_dtype(proto.dtype), proto.name or None)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether dtypes are equal and shapes compatible."""
        other_shape = getattr(spec_or_value, "shape", None)
        other_dtype = getattr(spec_or_value, "dtype", None)
        if not isinstance(other_shape, _core.TensorShape):
            return False
        if not isinstance(other_dtype, _core.DType):
            return False
        return self._dtype == other_dtype and self._shape.is_compatible_with(other_shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this spec is one of the other; a name must agree if given."""
        return (
            type(self) is type(other)
            and (not self._name or self._name == other._name)
            and self._dtype == other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """The most specific spec that covers all; None where dtypes or names differ."""
        for other in others:
            if type(self) is not type(other) or self._dtype != other._dtype:
                return None
            if self._name != other._name:
                return None
        shape = self._shape.most_specific_common_supertype([other._shape for other in others])
        return type(self)(shape, self._dtype, self._name)

    def to_tensors(self, value: Any) -> list[Any]:
        return [self.cast(value, None)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return next(tensors)

    def flatten(self) -> list[TypeSpec]:
        return [self]

    def cast(self, value: Any, cast_context: Any) -> Any:
        """The value as a tensor of this spec. TypeError or ValueError where it cannot be one."""
        if not isinstance(value, _core.Tensor):
            value = _core.convert_to_tensor(value, self._dtype)
        if not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What the context puts for a tensor of this spec."""
        return placeholder_context.placeholder(self)

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _to_components(self, value: Any) -> Any:
        if not isinstance(value, _core.Tensor):
            value = _core.convert_to_tensor(value, self._dtype)
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return tensor_list[0]

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [self]

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(_core.TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _with_tensor_ranks_only(self) -> TensorSpec:
        rank = self._shape.rank
        return TensorSpec(None if rank is None else [None] * rank, self._dtype, self._name)

    def _without_tensor_names(self) -> TensorSpec:
        return TensorSpec(self._shape, self._dtype) if self._name is not None else self

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> Any:
        return self._shape

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __eq__(self, other: Any) -> bool:
        return (
            type(self) is type(other)
            and self._shape == other._shape
            and self._dtype == other._dtype
            and self._name == other._name
        )

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the least and greatest values of the elements, both included.

    Args:
      shape: A TensorShape or anything that converts to one.
      dtype: A DType or anything that converts to one.
      minimum: Number or sequence of numbers that broadcasts to the shape.
      maximum: Likewise.
      name: A name for the tensor, or None.
    """

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: Any = None):
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> Any:
        import numpy as np

        if value is None:
            raise ValueError(f"`{which}` can not be None.")
        array = np.array(value, dtype=self._dtype.as_numpy_dtype)
        try:
            if self._shape.is_fully_defined():
                np.broadcast_to(array, self._shape.as_list())
        except ValueError:
            raise ValueError(
                f"`{which}` {value} is not compatible with shape {self._shape}."
            ) from None
        array.setflags(write=False)
        return array

    @property
    def minimum(self) -> Any:
        """The least values, a read-only NumPy array that broadcasts to the shape."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The greatest values, likewise."""
        return self._maximum

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A spec like another, with the limits of its dtype where it has none."""
        dtype = _core.as_dtype(spec.dtype)
        minimum = getattr(spec, "minimum", dtype.min)
        maximum = getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or getattr(spec, "name", None))

    def cast(self, value: Any, cast_context: Any) -> Any:
        return TensorSpec.cast(self, value, cast_context)

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        return TypeSpec.most_specific_common_supertype(self, others)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other: Any) -> bool:
        return (
            TensorSpec.__eq__(self, other)
            and self._minimum.tolist() == other._minimum.tolist()
            and self._maximum.tolist() == other._maximum.tolist()
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype, self._minimum.tobytes(), self._maximum.tobytes()))

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )


class NoneTensorSpec(BatchableTypeSpec):
    """The type of None."""

    @property
    def value_type(self) -> type:
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> list[Any]:
        return []

    def _to_components(self, value: Any) -> list[Any]:
        return []

    def _from_components(self, components: Any) -> None:
        return None

    def _batch(self, batch_size: int | None) -> NoneTensorSpec:
        return NoneTensorSpec()

    def _unbatch(self) -> NoneTensorSpec:
        return NoneTensorSpec()


_converters: list[tuple[type, Callable[[Any], TypeSpec]]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec]
) -> None:
    """Makes `type_spec_from_value` call `converter_fn` for instances of `type_object`."""
    _converters.append((type_object, converter_fn))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The TypeSpec of a value.

    Args:
      value: A tensor, variable or composite tensor, or anything that converts to a tensor.

    Returns:
      The most specific TypeSpec that describes it.

    Raises:
      TypeError: there is none.
    """
    no_spec = f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
    if isinstance(value, TypeSpec):
        raise TypeError(no_spec)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, _core.Tensor):
        return TensorSpec(value.shape, value.dtype)
    if value is None:
        return NoneTensorSpec()
    for type_object, converter in reversed(_converters):
        if isinstance(value, type_object):
            return converter(value)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    try:
        tensor = _core.convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(no_spec) from None
    return TensorSpec(tensor.shape, tensor.dtype)
