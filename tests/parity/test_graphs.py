"""Graphs as we and TensorFlow show them, and ours imported and run by TensorFlow."""

import re

import numpy as np
import pytest

import graphwright

tensorflow = pytest.importorskip("tensorflow")


def lines(graph_def):
    """Every node as text, functions renumbered by first use."""
    numbers = {}

    def renumber(text):
        return re.sub(
            r"\w+_(?:cond|body|true|false)_\d+|__inference_\w+",
            lambda match: f"function{numbers.setdefault(match[0], len(numbers))}",
            text,
        )

    def attributes(node):
        # What says where a thing was made, or how TensorFlow is to run it, may differ.
        return {
            name: str(value)
            for name, value in sorted(node.attr.items(), key=lambda item: item[0])
            if not name.startswith("_") and name not in {"config_proto", "config", "executor_type"}
        }

    def text(node):
        return renumber(f"{node.name} = {node.op}{list(node.input)} {attributes(node)}")

    def named_functions(node):
        for _, value in sorted(node.attr.items(), key=lambda item: item[0]):
            yield from (function.name for function in [value.func, *value.list.func])

    library = {function.signature.name: function for function in graph_def.library.function}
    waiting = [name for node in graph_def.node for name in named_functions(node)]
    found = {}
    while waiting:
        name = waiting.pop(0)
        if name in library and name not in found:
            found[name] = library[name]
            waiting += [inner for node in library[name].node_def for inner in named_functions(node)]
            renumber(name)
    result = [text(node) for node in graph_def.node]
    functions = {}
    for name, function in found.items():
        signature = function.signature
        outputs = [(output.name, function.ret[output.name]) for output in signature.output_arg]
        functions[renumber(name)] = [
            renumber(str([argument.name for argument in signature.input_arg])),
            renumber(str(outputs)),
            sorted(function.control_ret.items()),
            [text(node) for node in function.node_def],
        ]
    return result, functions


def straight(tf, x):
    z = tf.tanh(x) * 2.0 + x
    with tf.name_scope("layer"):
        z = z + 1
    with tf.name_scope("layer"):
        z = tf.add(z, 1, name="sum")
    return tf.concat([z, z], 0), x[0], tf.reduce_sum(x), tf.cast(x, tf.int32), -x, x / 2.0


def loop(tf, x):
    i = 0
    while i < 3:
        x = x + 1.0
        i += 1
    return x


def branch(tf, x):
    if tf.reduce_sum(x) > 0.0:
        y = tf.tanh(x)
    else:
        y = x
    return y


def nested(tf, x):
    n = tf.constant(3)
    i = tf.constant(0)
    while i < n:
        if tf.reduce_sum(x) > 4.0:
            x = x * 0.5
        else:
            x = x + 1.0
        i += 1
    return x


def effects(tf, x):
    variable = VARIABLES[tf.__name__]
    i = 0
    y = x * 2.0
    while i < 3:
        if i % 2 == 0:
            x = x + y
        else:
            x = tf.tanh(x) + variable
        i += 1
    variable.assign_add(x)
    variable.assign(variable * 0.5)
    return x, variable + 1.0


VARIABLES = {
    "graphwright": graphwright.Variable([1.0, 2.0]),
    "tensorflow": tensorflow.Variable([1.0, 2.0]),
}
PROGRAMS = [straight, loop, branch, nested, effects]
RUNNABLE = [straight, loop, branch, nested]  # an imported graph has no variables of ours


def traced(tf, program):
    @tf.function
    def function(x):
        return program(tf, x)

    return function.get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_nodes_are_tensorflows(program):
    ours = lines(traced(graphwright, program).graph.as_graph_def())
    theirs = lines(traced(tensorflow, program).graph.as_graph_def())
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]


@pytest.mark.parametrize("program", RUNNABLE, ids=lambda program: program.__name__)
def test_tensorflow_runs_what_we_export(program):
    concrete = traced(graphwright, program)
    serialized = concrete.graph.as_graph_def().SerializeToString()
    graph_def = tensorflow.compat.v1.GraphDef.FromString(serialized)
    wrapped = tensorflow.compat.v1.wrap_function(
        lambda: tensorflow.compat.v1.import_graph_def(graph_def, name=""), []
    )
    names = [node.name for node in graph_def.node if re.match(r"Identity(_\d+)?$", node.name)]
    imported = wrapped.prune("x:0", [name + ":0" for name in names])
    value = np.array([0.5, -2.0], np.float32)
    ours = graphwright.nest.flatten(concrete(graphwright.constant(value)))
    theirs = imported(tensorflow.constant(value))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6)
