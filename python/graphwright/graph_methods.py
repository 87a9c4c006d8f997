"""Methods of tf.Graph that are written in Python: what nodes made from now on get, and what is not
there."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from graphwright import _core
from graphwright.control_flow import control_dependencies as _control_dependencies
from graphwright.scopes import name_scope as _name_scope


@contextlib.contextmanager
def _current(graph: Any) -> Iterator[None]:
    """The graph is the one that scopes are entered in."""
    if _core.get_default_graph() is graph:
        yield
        return
    if graph.building_function:
        raise RuntimeError(
            f"The graph of the function {graph.name!r} is not being built here: scopes of it can "
            "be entered only while it is traced."
        )
    with graph.as_default():
        yield


@contextlib.contextmanager
def _scope(graph: Any, make: Any) -> Iterator[Any]:
    with _current(graph):
        scope = make()
        entered = scope.__enter__()
    try:
        yield entered
    finally:
        with _current(graph):
            scope.__exit__(None, None, None)


def control_dependencies(graph: Any, control_inputs: Any) -> Any:
    for item in control_inputs or ():
        if _core.is_tensor(item) or isinstance(item, _core.Operation):
            graph.as_graph_element(item)  # ValueError for what is in another graph
    return _scope(graph, lambda: _control_dependencies(control_inputs))


def name_scope(graph: Any, name: str | None) -> Any:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name for name_scope must be a string, not {type(name).__name__}.")
    return _scope(graph, lambda: _name_scope(name or ""))


_DEVICE_PARTS = ("job", "replica", "task", "device")


def _device_parts(spec: str) -> dict[str, str]:
    """ "/job:w/cpu:0" as {"job": "w", "device": "CPU:0"}."""
    parts: dict[str, str] = {}
    for part in filter(None, spec.split("/")):
        key, _, value = part.partition(":")
        if (key in ("replica", "task") and value.isdigit()) or (key == "job" and value):
            parts[key] = value
        elif key == "device" and re.fullmatch(r"\w+:(\d+|\*)", value):
            kind, _, index = value.partition(":")
            parts[key] = f"{kind.upper()}:{index}"
        elif key.lower() in ("cpu", "gpu") and re.fullmatch(r"\d+|\*", value):
            parts["device"] = f"{key.upper()}:{value}"
        else:
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'."
            )
    return parts


@contextlib.contextmanager
def device(graph: Any, device_name_or_function: Any) -> Iterator[None]:
    """Nodes made within say this device; those parts that `device_name_or_function` leaves out are
    the surrounding scope's, and None is no device. Everything runs on the CPU all the same."""
    if callable(device_name_or_function):
        raise NotImplementedError(
            "Graph.device with a function is not available: give the name of a device."
        )
    if device_name_or_function is not None and not isinstance(device_name_or_function, str):
        raise TypeError(
            "Graph.device takes a string or None, not "
            f"{type(device_name_or_function).__name__}: {device_name_or_function!r}"
        )
    inner = _device_parts(device_name_or_function or "")
    with _current(graph):
        before = _core.exchange_device("")
        if device_name_or_function is None:
            parts = {}
        else:
            parts = _device_parts(before) | inner
        text = "".join(f"/{key}:{parts[key]}" for key in _DEVICE_PARTS if key in parts)
        _core.exchange_device(text)
    try:
        yield
    finally:
        with _current(graph):
            _core.exchange_device(before)


@contextlib.contextmanager
def colocate_with(graph: Any, op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """Everything runs on one device, where operations are together anyway: nothing is noted."""
    del ignore_existing
    if op is not None:
        graph.as_graph_element(op)
    yield


def prevent_feeding(graph: Any, tensor: Any) -> None:
    vars(graph).setdefault("_unfeedable", []).append(graph.as_graph_element(tensor))


def is_feedable(graph: Any, tensor: Any) -> bool:
    return all(item is not tensor for item in vars(graph).get("_unfeedable", ()))


def _operation(graph: Any, element: Any) -> Any:
    element = graph.as_graph_element(element)
    return element.op if _core.is_tensor(element) else element


def prevent_fetching(graph: Any, op: Any) -> None:
    vars(graph).setdefault("_unfetchable", []).append(_operation(graph, op))


def is_fetchable(graph: Any, tensor_or_op: Any) -> bool:
    operation = _operation(graph, tensor_or_op)
    return all(item is not operation for item in vars(graph).get("_unfetchable", ()))


def _refuse(name: str, why: str) -> Any:
    def method(graph: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"Graph.{name} is not available: {why}.")

    method.__name__ = name
    return method


container = _refuse("container", "resources are kept by variables, not in named containers")
create_op = _refuse("create_op", "call the op in tf.raw_ops, which makes a node of the graph")
new_operations = _refuse("new_operations", "get_operations gives all of them")
gradient_override_map = _refuse(
    "gradient_override_map",
    "gradients are rules of ops; use tf.custom_gradient for a gradient of your own",
)
switch_to_thread_local = _refuse(
    "switch_to_thread_local", "the scopes of every thread are its own already"
)
get = _refuse("get", "it is of TensorFlow's own reference counts")
Dismantle = _refuse("Dismantle", "a graph is freed when nothing refers to it")
