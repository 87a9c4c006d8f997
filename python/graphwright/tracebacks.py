"""Tracebacks without the package's own frames."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_enabled = True


def enable_traceback_filtering() -> None:
    """Leaves the package's own frames out of the tracebacks of errors, as it does by default.

    The frames of your program stay, and so does the one that raises the error again.
    """
    global _enabled
    _enabled = True


def disable_traceback_filtering() -> None:
    """Shows all frames in the tracebacks of errors, to look for faults in the package itself."""
    global _enabled
    _enabled = False


def is_traceback_filtering_enabled() -> bool:
    """Whether tracebacks leave out the package's own frames."""
    return _enabled


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def filter_traceback(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function of the package raise errors whose tracebacks leave its frames out."""

    @functools.wraps(function)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if not _enabled:
                raise
            raise error.with_traceback(_without_own_frames(error.__traceback__))  # noqa: B904

    return filtered
