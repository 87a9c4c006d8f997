"""`graphwright.show`: a graph as a page, as text, and for TensorBoard."""

from __future__ import annotations

import html
import json
import os
import re
from typing import Any

from graphwright import _core
from graphwright.graph_files import write_event_file, write_whole

_FOLDER = os.path.dirname(__file__)


def _block_lines(block: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for node in block["nodes"]:
        outputs = ", ".join(f"{name} {kind}" for name, kind in node["outputs"])
        inputs = list(node["inputs"]) + ["^" + name for name in node["controls"]]
        attributes = ", ".join(f"{name}={text}" for name, text in node["attributes"].items())
        text = f"{indent}{outputs or node['name']} = {node['op']}({', '.join(inputs)})"
        if attributes:
            text += " {" + attributes.replace("\n", " ") + "}"
        if node["function"]:
            text += f" calls {node['function']}"
        if node["lines"]:
            text += f"  # {os.path.basename(node['lines'][-1])}"
        lines.append(text)
        for inner in node["blocks"]:
            arguments = ", ".join(f"{name} {kind}" for name, kind in inner["arguments"])
            lines.append(f"{indent}  {inner['kind']}({arguments}):")
            lines.extend(_block_lines(inner, indent + "    "))
    if block["results"]:
        lines.append(f"{indent}return {', '.join(block['results'])}")
    return lines


class GraphPage:
    """What `graphwright.show` gives: shows itself in notebooks, saves itself, prints as text."""

    def __init__(self, rows: tuple[dict[str, Any], dict[str, Any]], title: str):
        self._title = title
        self._graph, self._functions = rows

    @property
    def text(self) -> str:
        """The graph as text: a line for each node, blocks and called functions indented."""
        arguments = ", ".join(f"{name} {kind}" for name, kind in self._graph["arguments"])
        lines = [f"{self._title}({arguments}):", *_block_lines(self._graph, "  ")]
        for name, block in self._functions.items():
            arguments = ", ".join(f"{argument} {kind}" for argument, kind in block["arguments"])
            lines += [f"{name}({arguments}):", *_block_lines(block, "  ")]
        return "\n".join(lines) + "\n"

    @property
    def html(self) -> str:
        """The page: one file that needs no other."""
        with open(os.path.join(_FOLDER, "graph_page.html"), encoding="utf-8") as file:
            page = file.read()
        with open(os.path.join(_FOLDER, "graph_page.js"), encoding="utf-8") as file:
            script = file.read()
        data = json.dumps({"graph": self._graph, "functions": self._functions})
        # Nothing in the data may end the element that holds it.
        data = data.replace("<", "\\u003c")
        # In one pass: a title or a name may read like one of the places.
        parts = {"__TITLE__": html.escape(self._title), "__SCRIPT__": script, "__DATA__": data}
        return re.sub("|".join(parts), lambda match: parts[match[0]], page)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes the page, whole or not at all, and returns its path."""
        return write_whole(path, self.html.encode())

    def _repr_html_(self) -> str:
        source = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{source}" style="width: 100%; height: 600px; border: 0"></iframe>'

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<graphwright.show of {self._title}>"


def _graph_of(shown: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(shown, _core.Graph):
        return shown
    if type(shown).__name__ == "GraphDef":
        from graphwright.graphs import import_graph_def

        graph = _core.Graph()
        with graph.as_default():
            import_graph_def(shown, name="")
        return graph
    if hasattr(shown, "get_concrete_function"):
        return shown.get_concrete_function(*args, **kwargs).graph
    graph = getattr(shown, "graph", None)
    if isinstance(graph, _core.Graph):
        return graph
    raise TypeError(
        "show() takes a tf.Graph, a tf.function with arguments or TensorSpecs, a concrete function "
        f"or a GraphDef, not {shown!r}"
    )


def _traces_of(function: Any) -> list[Any]:
    traces = function._list_all_concrete_functions()
    if not traces:
        raise ValueError(
            f"show() was given the tf.function {function.__name__!r}, which has not been traced: "
            "call it first, or give arguments or TensorSpecs"
        )
    return traces


def _rows_of_traces(traces: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A graph with a node for each trace, which are its functions."""
    nodes, functions = [], {}
    for trace in traces:
        name = trace.name.decode() if isinstance(trace.name, bytes) else trace.name
        block, called = _core.graph_rows(trace.graph)
        functions.update({name: block | {"kind": "function"}} | called)
        empty: dict[str, Any] = {"inputs": [], "controls": [], "outputs": [], "blocks": []}
        row: dict[str, Any] = {
            "name": name,
            "op": "trace",
            "attributes": {},
            "device": "",
            "lines": [],
        }
        nodes.append(row | empty | {"function": name})
    return {"kind": "graph", "arguments": [], "nodes": nodes, "results": []}, functions


def show(shown: Any, *args: Any, tensorboard: str | os.PathLike[str] | None = None, **kwargs: Any):
    """Shows a graph: in a notebook by itself, elsewhere by `.save(path)` or `.text`.

    Args:
        shown: a `tf.Graph`, a concrete function, a GraphDef, or a `tf.function`.
        *args: for a `tf.function`, the arguments or `tf.TensorSpec`s that choose the trace; without
            any, all of its traces are shown.
        tensorboard: a folder in which to write an event file, which TensorBoard's graph view shows.
        **kwargs: as `args`.

    Returns:
        An object with `.html`, `.text` and `.save(path)`.
    """
    if hasattr(shown, "_list_all_concrete_functions") and not args and not kwargs:
        traces = _traces_of(shown)
        if len(traces) > 1:
            if tensorboard is not None:
                raise ValueError(
                    "an event file holds one graph: give the arguments or TensorSpecs of a trace"
                )
            return GraphPage(_rows_of_traces(traces), shown.__name__)
        graph = traces[0].graph
    else:
        graph = _graph_of(shown, args, kwargs)
    if tensorboard is not None:
        write_event_file(graph, tensorboard)
    name = getattr(shown, "__name__", None) or graph.name
    title = name if isinstance(name, str) else name.decode()
    return GraphPage(_core.graph_rows(graph), title)
