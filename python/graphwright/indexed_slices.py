"""Sparse gradients: rows of a tensor that is zero elsewhere."""

from __future__ import annotations

from typing import Any

from graphwright import _core
from graphwright.type_spec import CompositeTensor, TensorSpec, TypeSpec

_FLOAT32 = _core.as_dtype("float32")
_INT64 = _core.as_dtype("int64")


def _package() -> Any:
    import graphwright

    return graphwright


class IndexedSlices(CompositeTensor):
    """Rows ``values[i]`` at ``indices[i]`` of a tensor of shape `dense_shape`; all others are zero.

    The gradient of a gather is one. Rows of equal index add up. `tf.convert_to_tensor` makes the
    dense tensor.

    Args:
        values: a tensor of shape ``[n, ...]``.
        indices: an integer vector of n positions.
        dense_shape: the shape of the dense tensor, an integer vector, or None if it is not known.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows, one per index."""
        return self._values

    @property
    def indices(self) -> Any:
        """The positions of the rows, an integer vector."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the dense tensor, an integer vector, or None."""
        return self._dense_shape

    @property
    def shape(self) -> Any:
        """The static shape of the dense tensor."""
        tf = _package()
        if self._dense_shape is None:
            return tf.TensorShape(None)
        known = tf.get_static_value(self._dense_shape, partial=True)
        if known is None:
            return tf.TensorShape([None] * (self._dense_shape.shape[0] or 0))
        return tf.TensorShape([None if size is None else int(size) for size in known])

    @property
    def dtype(self) -> Any:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def name(self) -> str:
        """The name of `values`."""
        return self._values.name

    @property
    def device(self) -> str:
        """Where `values` are."""
        return self._values.device

    @property
    def graph(self) -> Any:
        """The graph of `values`."""
        return self._values.graph

    @property
    def op(self) -> Any:
        """The operation that made `values`."""
        return self._values.op

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        tf = _package()
        indices_shape = self._indices.shape.with_rank(1)
        shape = tf.TensorShape([None]).concatenate(self._values.shape[1:])
        dense_shape_dtype = None
        if self._dense_shape is not None:
            dense_shape_dtype = self._dense_shape.dtype
            shape = shape.merge_with(self.shape)
        return IndexedSlicesSpec(
            shape, self.dtype, self._indices.dtype, dense_shape_dtype, indices_shape
        )

    def consumers(self) -> Any:
        """The operations that take `values`."""
        return self._values.consumers()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        tf = _package()
        if dtype is not None and tf.as_dtype(dtype) != self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {tf.as_dtype(dtype).name} for IndexedSlices "
                f"with dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for argument without dense_shape: "
                f"{self}"
            )
        rows = tf.gather(self._dense_shape, 0)
        return tf.math.unsorted_segment_sum(self._values, self._indices, rows, name=name)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


class IndexedSlicesSpec(TypeSpec):
    """The type of an IndexedSlices.

    Args:
        shape: the shape of the dense tensor.
        dtype: the dtype of the rows.
        indices_dtype: int32 or int64.
        dense_shape_dtype: int32 or int64; None where there is no `dense_shape`.
        indices_shape: the shape of the indices, a vector.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = _FLOAT32,
        indices_dtype: Any = _INT64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ):
        self._shape = _core.TensorShape(shape)
        self._values_dtype = _core.as_dtype(dtype)
        self._indices_dtype = _core.as_dtype(indices_dtype)
        self._dense_shape_dtype = (
            None if dense_shape_dtype is None else _core.as_dtype(dense_shape_dtype)
        )
        self._indices_shape = _core.TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        values_shape = self._indices_shape.concatenate(self._shape[1:])
        specs = [
            TensorSpec(values_shape, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: IndexedSlices) -> tuple[Any, ...]:
        if value.dense_shape is None:
            return (value.values, value.indices)
        return (value.values, value.indices, value.dense_shape)

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)
