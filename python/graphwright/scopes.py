"""Name scopes."""

from __future__ import annotations

from types import TracebackType

from graphwright import _core


class name_scope:
    """A context manager under which names of operations and variables start with a scope.

    ``with tf.name_scope("layer") as scope:`` binds the full path, ``"layer/"``. A name that ends
    in a slash enters that path again; "" leaves all scopes for the time.
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, not {type(name).__name__}.")
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        return _core.enter_name_scope(self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.leave_name_scope()
