"""The exceptions that ops raise, one class for each status code.

``tf.errors.InvalidArgumentError`` and its sisters derive from :class:`OpError`. Arguments that have
the wrong Python type or value raise Python's own ``TypeError`` and ``ValueError``.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]


def __dir__() -> list[str]:
    return sorted(__all__)


OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An op failed.

    Attributes:
      message: What went wrong.
      error_code: The status code, one of the constants of this module.
      op: The operation, where the error arose in a graph and it is known; otherwise None.
      node_def: The node's definition, likewise.
      experimental_payloads: Further details as a dict of bytes by type URL.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int, *args: Any):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        self._experimental_payloads = dict(args[0]) if args and args[0] else {}

    def __reduce__(self) -> tuple[Any, ...]:
        # An operation belongs to its graph and stays behind.
        if type(self) is OpError:
            return type(self), (self._node_def, None, self._message, self._error_code)
        return type(self), (self._node_def, None, self._message)

    def __str__(self) -> str:
        return self._message

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Any:
        return self._op

    @property
    def node_def(self) -> Any:
        return self._node_def

    @property
    def error_code(self) -> int:
        return self._error_code

    @property
    def experimental_payloads(self) -> dict[Any, Any]:
        return self._experimental_payloads


class OperatorNotAllowedInGraphError(TypeError):
    """A symbolic tensor was used where Python needs a value: as a bool, or to iterate."""


class InaccessibleTensorError(ValueError):
    """A symbolic tensor was used outside the function that it belongs to."""


def _make(name: str, code: int, doc: str) -> type[Any]:
    def __init__(self: OpError, node_def: Any, op: Any, message: str, *args: Any) -> None:
        OpError.__init__(self, node_def, op, message, code, *args)

    return type(
        name, (OpError,), {"__init__": __init__, "__doc__": doc, "__module__": "graphwright.errors"}
    )


CancelledError = _make("CancelledError", CANCELLED, "The call was cancelled.")
UnknownError = _make("UnknownError", UNKNOWN, "An error of no known kind, as of Python code.")
InvalidArgumentError = _make(
    "InvalidArgumentError",
    INVALID_ARGUMENT,
    "An argument has a value, dtype or shape that it must not have.",
)
DeadlineExceededError = _make("DeadlineExceededError", DEADLINE_EXCEEDED, "It took too long.")
NotFoundError = _make("NotFoundError", NOT_FOUND, "A file, resource or key does not exist.")
AlreadyExistsError = _make("AlreadyExistsError", ALREADY_EXISTS, "What was to be made exists.")
PermissionDeniedError = _make("PermissionDeniedError", PERMISSION_DENIED, "Access was refused.")
ResourceExhaustedError = _make("ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory ran out.")
FailedPreconditionError = _make(
    "FailedPreconditionError",
    FAILED_PRECONDITION,
    "Something is not in the state that the op needs: a variable without a value, for example.",
)
AbortedError = _make("AbortedError", ABORTED, "The op was aborted, by another one mostly.")
OutOfRangeError = _make("OutOfRangeError", OUT_OF_RANGE, "An index or iterator went past the end.")
UnimplementedError = _make("UnimplementedError", UNIMPLEMENTED, "The op cannot do this.")
InternalError = _make("InternalError", INTERNAL, "An invariant of the library does not hold.")
UnavailableError = _make("UnavailableError", UNAVAILABLE, "A service does not answer now.")
DataLossError = _make("DataLossError", DATA_LOSS, "Data is corrupt or was lost.")
UnauthenticatedError = _make("UnauthenticatedError", UNAUTHENTICATED, "Who calls is not known.")

_class_of_code: dict[int, type[Any]] = {
    cls(None, None, "").error_code: cls
    for cls in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}
