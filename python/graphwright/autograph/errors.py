"""Errors raised while the user's functions are traced, told in terms of the user's code.

An exception that leaves a converted function is raised again with a message that lists where in the
user's code it happened: one place per converted function, outermost first, marked `*`; below the
innermost, what was called unconverted, the first of it marked `**`. Frames of this package are left
out. The exception keeps its class where that class takes a message.
"""

from __future__ import annotations

import linecache
import os
import types

from .. import _core

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# What the use of a tensor of another function says. TensorFlow finds it when the function is
# called, not while it is traced, and so does not place it in the function's code.
_OUT_OF_SCOPE = "is out of scope and cannot be used here"

# Classes whose constructor takes the message alone.
_TAKE_A_MESSAGE = frozenset(
    {
        AssertionError,
        AttributeError,
        NameError,
        NotImplementedError,
        RuntimeError,
        RecursionError,
        StopIteration,
        TypeError,
        UnboundLocalError,
        ValueError,
    }
)


class StagingError(Exception):
    """Stands for an exception of the user's whose class takes more than a message."""


class _MultilineKeyError(KeyError):
    """A KeyError that prints its message as it is, where KeyError would quote it."""

    def __init__(self, message: str, original):
        super().__init__(original)
        self._message = message

    def __str__(self) -> str:
        return self._message


_MultilineKeyError.__name__ = "KeyError"
_MultilineKeyError.__qualname__ = "KeyError"


class _Place:
    """One line of the user's code."""

    __slots__ = ("filename", "function", "line", "mark", "text")

    def __init__(self, frame: types.TracebackType, function: str, mark: str):
        code = frame.tb_frame.f_code
        self.filename = code.co_filename
        self.line = frame.tb_lineno
        self.function = function
        self.mark = mark
        text = linecache.getline(self.filename, self.line, frame.tb_frame.f_globals)
        self.text = text.strip() or "<source unavailable>"

    def __str__(self) -> str:
        where = f'    File "{self.filename}", line {self.line}, in {self.function}{self.mark}'
        return f"{where}\n        {self.text}"


class ErrorMetadata:
    """What is known of an error in user code; kept as its attribute `ag_error_metadata`.

    Attributes:
        places: the places to show, outermost first.
        cause_message: the original class and message.
    """

    def __init__(self, places: list[_Place], cause_message: str):
        self.places = places
        self.cause_message = cause_message

    def message(self) -> str:
        lines = ["in user code:", ""]
        lines += map(str, self.places)
        lines.append("")
        lines += [f"    {line}" for line in self.cause_message.split("\n")]
        lines.append("")
        return "\n".join(lines)


def _places(traceback: types.TracebackType | None, innermost: bool) -> list[_Place]:
    """The places of the converted functions in a traceback, outermost first."""
    activations: list[_Place] = []
    below: list[types.TracebackType] = []
    while traceback is not None:
        owner = _core.autograph_owner(traceback.tb_frame.f_code)
        if owner is not None:
            name, begins_function = owner
            place = _Place(traceback, name, "  *")
            if begins_function or not activations:
                activations.append(place)
            else:
                activations[-1] = place  # further in, but still in the same function
            below = []
        elif activations:
            below.append(traceback)
        traceback = traceback.tb_next
    if innermost:
        mark = "  **"
        for frame in below:
            code = frame.tb_frame.f_code
            if not os.path.abspath(code.co_filename).startswith(_PACKAGE):
                activations.append(_Place(frame, code.co_name, mark))
                mark = ""
    return activations


def _like(error: BaseException, message: str, cause_message: str) -> BaseException:
    """An exception of the error's class with another message, as far as that can be made."""
    kind = type(error)
    if kind in _TAKE_A_MESSAGE or kind.__init__ is Exception.__init__:
        return kind(message)
    if issubclass(kind, KeyError):
        return _MultilineKeyError(message, cause_message)
    if hasattr(error, "node_def") and hasattr(error, "op"):
        return kind(error.node_def, error.op, message)
    if kind.__module__.partition(".")[0] == "graphwright":
        return kind(message)
    return StagingError(message)


def in_user_code(error: BaseException) -> BaseException:
    """The exception to raise in place of one that left a function being traced.

    It is `error` itself where no converted code took part.
    """
    if hasattr(error, "ag_pass_through") or not isinstance(error, Exception):
        return error
    known = getattr(error, "ag_error_metadata", None)
    places = _places(error.__traceback__, known is None)
    if not places:
        return error
    if isinstance(error, TypeError) and _OUT_OF_SCOPE in str(error):
        return error.with_traceback(None)
    if known is None:
        metadata = ErrorMetadata(places, f"{type(error).__name__}: {error}")
    else:
        # It has left an inner function already, whose places come below.
        metadata = ErrorMetadata(places + known.places, known.cause_message)
    told = _like(error, metadata.message(), metadata.cause_message)
    told.ag_error_metadata = metadata  # type: ignore[attr-defined]
    told.__context__ = error.__context__ if known is not None else error
    told.__suppress_context__ = True
    return told
