"""``tf.print``: prints tensors when they have values, eager or in a graph."""

from __future__ import annotations

import itertools
import pprint
import sys
from typing import Any

from graphwright import _core, nest

_LOG_STREAMS = ("log(info)", "log(warning)", "log(error)")


class _Slot:
    """Stands for a tensor in a structure while that is formatted."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _stream_name(stream: Any) -> str:
    if stream is None or stream is sys.stderr or stream is sys.__stderr__:
        return "stderr"
    if stream is sys.stdout or stream is sys.__stdout__:
        return "stdout"
    if isinstance(stream, str) and (stream.startswith("file://") or stream in _LOG_STREAMS):
        return stream
    raise ValueError(
        f"Unsupported output stream, logging level, or file: {stream}. Supported streams are "
        "sys.stdout, sys.stderr, 'log(info)', 'log(warning)', 'log(error)' and 'file://<path>'."
    )


def _template_of(value: Any, slot: _Slot, tensors: list[Any]) -> str:
    """The text of one argument, with `slot` for each tensor, which goes into `tensors`."""
    if isinstance(value, str):
        return value
    if _core.is_tensor(value):
        tensors.append(value)
        return repr(slot)

    def replace(leaf: Any) -> Any:
        if not _core.is_tensor(leaf):
            return leaf
        tensors.append(leaf)
        return slot

    return pprint.pformat(nest.map_structure(replace, value))


def _unused_placeholder(values: tuple[Any, ...]) -> str:
    """A text that stands for tensors and occurs nowhere else in what is printed."""
    discarded: list[Any] = []
    text = "".join(_template_of(value, _Slot(""), discarded) for value in values)
    candidates = itertools.chain(["{}"], (f"{{tensor{i}}}" for i in itertools.count()))
    return next(candidate for candidate in candidates if candidate not in text)


def print_tensors(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int | None = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> Any:
    """Prints the arguments, tensors by their values. In a graph it returns the operation.

    Args:
      *inputs: Tensors, variables, structures that hold them, and any other Python objects, which
        are printed as they are now.
      output_stream: sys.stderr (also None), sys.stdout, "log(info)", "log(warning)", "log(error)"
        or "file://<path>".
      summarize: How many elements at each end of a dimension are shown; -1 for all.
      sep: Text between the arguments.
      end: Text after the last one.
      name: Base name of the nodes.

    Raises:
      ValueError: For an unknown output stream.
    """
    stream = _stream_name(output_stream)
    if summarize is None:
        summarize = 3
    only = inputs[0] if len(inputs) == 1 and _core.is_tensor(inputs[0]) else None
    if only is not None and only.dtype == _core.dtypes_by_name["string"] and only.shape.rank == 0:
        text = _core.convert_to_tensor(only)
    else:
        placeholder = _unused_placeholder(inputs)
        tensors: list[Any] = []
        templates = [_template_of(value, _Slot(placeholder), tensors) for value in inputs]
        text = _core.raw_op("StringFormat")(
            inputs=tensors,
            template=sep.join(templates),
            placeholder=placeholder,
            summarize=summarize,
        )
    if stream in ("stdout", "stderr"):
        # What Python has printed before must come out before.
        getattr(sys, stream).flush()
    return _core.raw_op("PrintV2")(input=text, output_stream=stream, end=end, name=name)
