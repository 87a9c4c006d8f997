"""The sixty programs of tests/python/graph_programs.py beside TensorFlow: equal nodes, and our
GraphDefs imported and run by TensorFlow. Prints the figures, and what differs.

With GW_RECORD set, TensorFlow's nodes are written to tests/python/data/graph_programs.json.
"""

import json
import os
import pathlib
import sys

import numpy as np
import pytest

import graphwright

tensorflow = pytest.importorskip("tensorflow")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
import graph_programs  # noqa: E402

DATA = pathlib.Path(graph_programs.__file__).parent / "data" / "graph_programs.json"
VALUES = [[0.5, -2.0, 3.0], [2.0, 1.0, -1.0]]
BY_HAND = [name for name in graph_programs.PROGRAMS if not name.startswith("variables")]
FORMS = [("function", name) for name in graph_programs.PROGRAMS]
FORMS += [("graph", name) for name in BY_HAND]
figures = {"equal": [], "different": {}, "same values": [], "other values": {}}
recorded = {}
# Form and program -> why its nodes are not TensorFlow's; exact, so a difference that appears or
# disappears fails.
EXPLAINED: dict[str, str] = {}


@pytest.mark.parametrize(("form", "name"), FORMS)
def test_nodes_are_tensorflows(form, name):
    theirs = graph_programs.lines_of(tensorflow, form, name)
    recorded[f"{form} {name}"] = theirs
    try:
        ours = graph_programs.lines_of(graphwright, form, name)
        text = graph_programs.difference(ours, theirs)
    except Exception as error:
        text = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    if text:
        figures["different"][f"{form} {name}"] = text
    else:
        figures["equal"].append(f"{form} {name}")
    assert bool(text) == (f"{form} {name}" in EXPLAINED), text or "equal now: not to be explained"


def run_imported(graph_def, feeds, fetches, arguments):
    message = tensorflow.compat.v1.GraphDef.FromString(graph_def.SerializeToString())
    wrapped = tensorflow.compat.v1.wrap_function(
        lambda: tensorflow.compat.v1.import_graph_def(message, name=""), []
    )
    return wrapped.prune(feeds, fetches)(*arguments)


def compare_values(form, name):
    for value in VALUES:
        value = np.array(value, np.float32)
        if form == "graph":
            graph, results = graph_programs.build_graph(graphwright, name)
            fetches = [tensor.name for tensor in results]
            wrapped = graphwright.compat.v1.wrap_function(
                lambda graph=graph: graphwright.import_graph_def(graph.as_graph_def(), name=""), []
            )
            ours = wrapped.prune("x:0", fetches)(graphwright.constant(value))
            theirs = run_imported(
                graph.as_graph_def(), "x:0", fetches, [tensorflow.constant(value)]
            )
            variables, others = (), ()
        else:
            concrete, variables = graph_programs.build_function(graphwright, name)
            others = graph_programs.make_variables(tensorflow) if variables else ()
            fetches = [tensor.name for tensor in concrete.outputs]
            captures = concrete.graph.captures
            handles = []
            for outer, _ in captures:
                match = [
                    other
                    for mine, other in zip(variables, others, strict=True)
                    if mine.handle is outer or mine.handle.ref() == outer.ref()
                ]
                handles.append(match[0].handle if match else tensorflow.constant(outer.numpy()))
            feeds = ["x:0", *(inner.name for _, inner in captures)]
            theirs = run_imported(
                concrete.graph.as_graph_def(),
                feeds,
                fetches,
                [tensorflow.constant(value), *handles],
            )
            ours = graphwright.nest.flatten(concrete(graphwright.constant(value)))
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5)
        for mine, other in zip(variables, others, strict=True):
            np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5)


@pytest.mark.parametrize(("form", "name"), FORMS)
def test_tensorflow_computes_the_same(form, name):
    try:
        compare_values(form, name)
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [""]
        figures["other values"][f"{form} {name}"] = f"{type(error).__name__}: {lines[0]}"
        raise
    figures["same values"].append(f"{form} {name}")


def test_figures(capsys):
    with capsys.disabled():
        print_figures()
    if os.environ.get("GW_RECORD"):
        DATA.write_text(json.dumps(recorded, indent=0) + "\n")


def print_figures():
    print(
        f"\n{len(graph_programs.PROGRAMS)} programs, {len(FORMS)} graphs: "
        f"{len(figures['equal'])} with equal nodes, {len(figures['same values'])} imported and run "
        f"by TensorFlow with the same values, {len(EXPLAINED)} differences explained"
    )
    for name, reason in EXPLAINED.items():
        print(f"  explained: {name}: {reason}")
    for key in ("different", "other values"):
        for form, text in figures[key].items():
            print(f"  {key}: {form}: {text}")
