"""Graphs in files, written whole or not at all."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from typing import Any

from graphwright import _core


def write_whole(path: str | os.PathLike[str], contents: bytes) -> str:
    """Writes a file beside its place, then moves it there, so that nobody sees half of it."""
    target = os.fspath(path)
    handle, part = tempfile.mkstemp(dir=os.path.dirname(target) or ".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _make_folder(folder: str | os.PathLike[str]) -> str:
    import graphwright as tf

    name = os.fspath(folder)
    try:
        os.makedirs(name or ".", exist_ok=True)
    except (NotADirectoryError, FileExistsError) as error:
        raise tf.errors.FailedPreconditionError(None, None, f"{name} is not a directory") from error
    return name


def write_event_file(graph: Any, folder: str | os.PathLike[str]) -> str:
    """Writes an event file of one record that holds the graph; returns its path."""
    name = _make_folder(folder)
    now = time.time()
    contents = _core.graph_event_file(graph.as_graph_def().SerializeToString(), now)
    file = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}.graph"
    return write_whole(os.path.join(name, file), contents)


def write_graph(
    graph_or_graph_def: Any, logdir: str | os.PathLike[str], name: str, as_text: bool = True
) -> str:
    """Writes a graph, or a GraphDef message, to a file.

    Args:
        graph_or_graph_def: a `tf.Graph` or a GraphDef.
        logdir: the folder, made if it is not there.
        name: of the file.
        as_text: text form of the message instead of binary.

    Returns:
        The file's path.
    """
    message = graph_or_graph_def
    if isinstance(message, _core.Graph):
        message = message.as_graph_def()
    path = os.path.join(_make_folder(logdir), name)
    if as_text:
        from google.protobuf import text_format

        return write_whole(path, text_format.MessageToString(message).encode())
    return write_whole(path, message.SerializeToString(deterministic=True))
