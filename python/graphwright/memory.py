"""Memory of tensors: how much there is in use, and a limit."""

from __future__ import annotations

from graphwright import _core


def _check_device(device: str) -> None:
    if device.upper().removeprefix("/DEVICE:").removesuffix(":0") != "CPU":
        raise ValueError(f"Unknown device {device!r}: there is 'CPU:0' only.")


def get_memory_info(device: str = "CPU:0") -> dict[str, int]:
    """Bytes that tensors have taken from the system: in use now, and at most so far.

    Freed memory that is kept for the next tensors counts as in use.

    Args:
        device: "CPU:0".

    Returns:
        A dict with the keys "current" and "peak".

    Raises:
        ValueError: for another device.
    """
    _check_device(device)
    return _core.memory_info()


def reset_memory_stats(device: str = "CPU:0") -> None:
    """Makes the peak what is in use now. ValueError for another device than "CPU:0"."""
    _check_device(device)
    _core.reset_peak_memory()


def set_memory_limit(limit: int) -> None:
    """Limits the bytes that tensors may take from the system.

    What would take more raises `tf.errors.ResourceExhaustedError`, which names the shape, and the
    program goes on. At start the limit is that of the environment variable
    GRAPHWRIGHT_MEMORY_LIMIT, or else the memory of the machine.

    Args:
        limit: bytes; 0 for no limit.

    Raises:
        ValueError: if it is negative.
    """
    if limit < 0:
        raise ValueError(f"A memory limit must not be negative, but got {limit}.")
    _core.set_memory_limit(limit)
