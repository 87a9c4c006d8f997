"""Tensors as TensorProto messages and back."""

from __future__ import annotations

from typing import Any

from graphwright import _core


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """The TensorProto of values.

    Args:
        values: a number, string, list, array or eager tensor.
        dtype: of the tensor; otherwise what the values have.
        shape: of the tensor; a single value fills it.
        verify_shape: whether values of another shape are an error.
        allow_broadcast: whether a single value may stand for a whole `shape` in the message.

    Raises:
        TypeError: `verify_shape` is set and the shapes differ.
        ValueError: None, or more values than `shape` holds.
    """
    import numpy as np

    from graphwright import _protobuf

    if values is None:
        raise ValueError("None values not supported.")
    wanted = None if dtype is None else _core.as_dtype(dtype)
    if isinstance(values, np.ndarray | np.generic) and wanted is None:
        tensor = _core.constant(values)
    else:
        tensor = _core.constant(values, dtype=wanted)
    given = list(tensor.shape)
    message = _protobuf.message_class("TensorProto").FromString(_core.tensor_proto(tensor))
    if message.tensor_content and tensor.dtype.name == "bool":
        # TensorFlow writes these one by one.
        message.ClearField("tensor_content")
        message.bool_val.extend(tensor.numpy().ravel().tolist())
    if shape is None:
        return message
    sizes = [int(size) for size in shape]
    if given == sizes:
        return message
    count = 1
    for size in sizes:
        count *= size
    elements = tensor.numpy().size
    if verify_shape and not (allow_broadcast and elements == 1):
        raise TypeError(f"Expected Tensor's shape: {tuple(sizes)}, got {tuple(given)}.")
    if elements > count:
        raise ValueError(
            f"Too many elements provided. Takes at most {count:d}, but got {elements:d}"
        )
    if elements == count:
        tensor = _core.public_functions()["reshape"](tensor, sizes)
        return _protobuf.message_class("TensorProto").FromString(_core.tensor_proto(tensor))
    del message.tensor_shape.dim[:]
    for size in sizes:
        message.tensor_shape.dim.add().size = size
    if message.tensor_content:
        # Fewer elements than the shape has: only the typed field may stop early.
        field = _FIELDS[tensor.dtype.name]
        message.ClearField("tensor_content")
        getattr(message, field).extend(tensor.numpy().ravel().tolist())
    return message


_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "int16": "int_val",
    "int8": "int_val",
    "uint16": "int_val",
    "uint8": "int_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "string": "string_val",
}


def make_ndarray(tensor: Any) -> Any:
    """The NumPy array of a TensorProto message; strings become an array of bytes objects.

    Raises:
        ValueError: the elements do not fit the shape.
    """
    import numpy as np

    value = _core.tensor_of_proto(tensor.SerializeToString()).numpy()
    return np.asarray(value, dtype=object) if isinstance(value, bytes) else np.asarray(value)
