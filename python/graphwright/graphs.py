"""Graphs built by hand: placeholders, and the default graph."""

from __future__ import annotations

from typing import Any

from graphwright import _core

_default_graph: Any = None


def get_default_graph() -> Any:
    """The graph that ops go to now; while executing eagerly, one that the process has for this."""
    global _default_graph
    current = _core.get_default_graph()
    if current is not None:
        return current
    if _default_graph is None:
        _default_graph = _core.Graph()
    return _default_graph


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of a graph whose value is given when the graph is run (``prune`` with it as a feed).

    Args:
        dtype: of the tensor.
        shape: what is known of its shape; None if nothing is.
        name: of the operation.

    Raises:
        RuntimeError: ops run eagerly here, so there is no graph to put it into.
    """
    if _core.executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _core.raw_op("Placeholder")(
        dtype=_core.as_dtype(dtype), shape=_core.TensorShape(shape), name=name
    )


def __getattr__(name: str) -> Any:
    if name == "GraphDef":
        from graphwright import _protobuf

        return _protobuf.message_class("GraphDef")
    raise AttributeError(f"module 'graphwright.graphs' has no attribute '{name}'")


def _checked_graph_def(graph_def: Any) -> bytes:
    """The message's bytes; any library's GraphDef class will do."""
    descriptor = getattr(type(graph_def), "DESCRIPTOR", None)
    if getattr(descriptor, "name", None) != "GraphDef":
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    return graph_def.SerializeToString()


def _checked_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, dict):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    if not all(isinstance(key, str) for key in input_map):
        raise TypeError(
            "All keys for argument `input_map` must be strings. Obtained keys: "
            f"{list(input_map.keys())}"
        )
    return input_map


def _imported_element(nodes: dict[str, Any], name: str) -> Any:
    """What a return element, "node" or "node:1", is among the imported nodes."""
    node, colon, index = name.partition(":")
    if node not in nodes:
        raise ValueError(f"Requested return node '{node}' not found in graph def")
    outputs, operation = nodes[node]
    if not colon:
        return outputs[0].op if operation is None else operation
    if not index.isdigit():
        raise ValueError(f"Requested return_element {name!r} is not the name of a tensor")
    if int(index) >= len(outputs):
        raise ValueError(
            f"Invalid return output {index} of node '{node}', which has {len(outputs)} output(s)"
        )
    return outputs[int(index)]


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: Any = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the operations of a GraphDef to the graph that is being built.

    Args:
        graph_def: the message.
        input_map: names of tensors in `graph_def`, and the tensors to take instead.
        return_elements: names of operations ("a") or tensors ("a:0") to return.
        name: scope in front of the names, "import" by default; "" for none.
        op_dict: not used.
        producer_op_list: not used: ops have one version here.

    Returns:
        The return elements, a list; None without `return_elements`.

    Raises:
        TypeError: an argument has another type.
        ValueError: the definition is not a valid graph; names the node.
        tf.errors.NotFoundError: an op that does not exist.
    """
    del op_dict, producer_op_list
    serialized = _checked_graph_def(graph_def)
    inputs = _checked_input_map(input_map)
    if return_elements is not None:
        return_elements = tuple(return_elements)
        if not all(isinstance(element, str) for element in return_elements):
            raise TypeError(
                "Argument `return_elements` must be a list of strings. Obtained "
                f"{list(return_elements)}."
            )
    if _core.executing_eagerly():
        with get_default_graph().as_default():
            return _import(serialized, inputs, return_elements, name)
    return _import(serialized, inputs, return_elements, name)


def _import(
    serialized: bytes, inputs: dict[str, Any], return_elements: Any, name: str | None
) -> list[Any] | None:
    from graphwright.scopes import name_scope

    if name == "":
        prefix = get_default_graph().get_name_scope()
    else:
        with name_scope("import" if name is None else name) as scope:
            prefix = scope.rstrip("/")
            if any(not _core.is_tensor(value) for value in inputs.values()):
                with name_scope("_inputs"):
                    inputs = {key: _core.convert_to_tensor(value) for key, value in inputs.items()}
    nodes = _core.import_graph_def(serialized, prefix, inputs)
    unknown = [key for key in inputs if key.lstrip("^").partition(":")[0] not in nodes]
    if unknown:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(unknown)}]"
        )
    if return_elements is None:
        return None
    return [_imported_element(nodes, element) for element in return_elements]


class WrappedFunction:
    """A function traced as a graph, of which other functions can be cut: see `wrap_function`."""

    def __init__(self, concrete: Any):
        self._concrete = concrete

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._concrete(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_concrete":
            raise AttributeError(name)
        return getattr(self._concrete, name)

    def prune(self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None):
        """The function of `feeds` that returns `fetches`.

        Args:
            feeds: a tensor of the graph or its name, or a structure of these.
            fetches: a tensor, operation or name of one, or a structure of these; operations are run
                and give None.
            name: of the function.
            input_signature: not used: feeds have their dtypes and shapes.

        Raises:
            ValueError: a feed is not a tensor, or a placeholder that is needed is not fed.
            KeyError: there is nothing of a name.
        """
        import graphwright as tf

        del input_signature
        graph = self._concrete.graph
        feed_tensors = []
        for feed in tf.nest.flatten(feeds):
            element = graph.as_graph_element(getattr(feed, "name", feed))
            if not _core.is_tensor(element):
                raise ValueError(
                    f"All members of argument `feeds` must be tensors. Got {element} with type "
                    f"{type(element)}."
                )
            feed_tensors.append(element)
        operations = []

        def resolve(fetch: Any) -> Any:
            element = graph.as_graph_element(getattr(fetch, "name", fetch))
            if _core.is_tensor(element):
                return element
            operations.append(element)
            return None

        structure = tf.nest.map_structure(resolve, fetches)
        return _core.slice_function(
            lambda *feeds: None,
            name or "pruned",
            feed_tensors,
            structure,
            operations,
        )


def wrap_function(fn: Any, signature: Any, name: str | None = None) -> WrappedFunction:
    """Traces `fn`, whose body may build a graph by hand, without AutoGraph.

    Args:
        fn: the Python function.
        signature: the `tf.TensorSpec`s of its arguments.
        name: of the function.

    Returns:
        A function whose `prune` cuts functions between any of its tensors.
    """
    function = _core.Function(fn, name or "wrapped_function", None, False, None, False, False)
    return WrappedFunction(function.get_concrete_function(*signature))
