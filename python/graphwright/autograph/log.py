"""AutoGraph's messages about what it does."""

from __future__ import annotations

import os
import sys

_verbosity: int | None = None
_echo = bool(hasattr(sys, "ps1") or hasattr(sys, "ps2"))


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much AutoGraph says: 0 nothing, 10 everything.

    Args:
        level: the new verbosity; without a call, the environment variable AUTOGRAPH_VERBOSITY
            gives it.
        alsologtostdout: whether messages go to the standard output as well.
    """
    global _verbosity, _echo
    _verbosity = level
    _echo = alsologtostdout


def verbosity() -> int:
    """The current verbosity."""
    if _verbosity is None:
        return int(os.environ.get("AUTOGRAPH_VERBOSITY", "0"))
    return _verbosity


def log(level: int, message: str) -> None:
    """Writes the message where the verbosity is at least `level`."""
    if level <= verbosity():
        print(message, file=sys.stderr)
        if _echo:
            print(message)


def trace(*args) -> None:
    """Prints its arguments when the code around it is traced, not when it runs."""
    print(*args)
