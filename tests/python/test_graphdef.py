"""Graphs as GraphDef messages."""

import re
import subprocess
import sys

import pytest

import graphwright as tf
from graphwright import _core, _protobuf

LOOP = """graphwright-ir 2
graph "loop" next 6
scope "while" in 0 block 0 before 1
body(%0: float32[2] "x") {
  %1: float32[2] = Const() {value = float32[2] {1, 2}, dtype = float32} "step" id 0
  %2: int32[] = Const() {value = int32[] {-1}, dtype = int32} "maximum_iterations" scope 1 id 1
  %3: int32[], %4: float32[2] = While(%2, %0) {} "" scope 1 id 2\
 block(%5: int32[] "loop_counter", %6: float32[2]) {
    %7: bool[] = Const() {value = bool[] {false}, dtype = bool} "Const" scope 1 id 3
    return %7
  } block(%8: int32[] "loop_counter", %9: float32[2]) {
    %10: float32[2] = AddV2(%9, %1) {} "add" scope 1 id 4
    return %10
  }
  return %4
}
"""


def exported(text: str):
    return _protobuf.graph_def(_core.graphdef_from_text(text))


def test_message_has_tensorflows_fields():
    graph_def = exported(LOOP)
    assert type(graph_def).__name__ == "GraphDef"
    assert [node.name for node in graph_def.node] == [
        "x",
        "step",
        "while/maximum_iterations",
        "while/loop_counter",
        "while",
        "Identity",
    ]
    loop = graph_def.node[4]
    assert loop.op == "StatelessWhile"
    assert list(loop.input) == ["while/loop_counter", "while/maximum_iterations", "x", "step"]
    assert list(loop.attr["T"].list.type) == [3, 3, 1, 1]
    assert re.fullmatch(r"while_cond_\d+", loop.attr["cond"].func.name)
    assert re.fullmatch(r"while_body_\d+", loop.attr["body"].func.name)
    assert loop.attr["parallel_iterations"].i == 10
    assert [function.signature.name for function in graph_def.library.function] == [
        loop.attr["cond"].func.name,
        loop.attr["body"].func.name,
    ]
    body = graph_def.library.function[1]
    assert dict(body.ret)["while_identity_2"] == "while/Identity_2:output:0"
    assert graph_def.versions.producer > 0


def test_text_of_the_message_names_enums():
    text = str(exported(LOOP).node[0])
    assert 'op: "Placeholder"' in text
    assert "type: DT_FLOAT" in text


def test_message_can_be_copied_and_parsed():
    graph_def = exported(LOOP)
    copy = type(graph_def)()
    copy.CopyFrom(graph_def)
    assert copy == graph_def
    assert type(graph_def).FromString(graph_def.SerializeToString()) == graph_def


def test_nodes_stay_out_of_the_default_pool():
    from google.protobuf import descriptor_pool

    exported(LOOP)
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tensorflow.GraphDef")


def test_import_does_not_load_protobuf():
    code = "import graphwright, sys; sys.exit('google.protobuf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_malformed_text_is_an_error():
    with pytest.raises(Exception, match="line 1"):
        _core.graphdef_from_text("nonsense")


@pytest.mark.parametrize(("length", "count"), [(3, 11), (10, 32)])
def test_python_loop_adds_a_copy_of_its_body_per_step(length, count):
    @tf.function
    def train(dataset):
        loss = tf.constant(0)
        for x, y in dataset:
            loss += tf.abs(y - x)
        return loss

    nodes = train.get_concrete_function([(1, 1)] * length).graph.as_graph_def().node
    assert len(nodes) == count
    if length == 3:
        assert [(node.name, node.op, list(node.input)) for node in nodes] == [
            ("Const", "Const", []),
            ("Abs/x", "Const", []),
            ("Abs", "Abs", ["Abs/x"]),
            ("add", "AddV2", ["Const", "Abs"]),
            ("Abs_1/x", "Const", []),
            ("Abs_1", "Abs", ["Abs_1/x"]),
            ("add_1", "AddV2", ["add", "Abs_1"]),
            ("Abs_2/x", "Const", []),
            ("Abs_2", "Abs", ["Abs_2/x"]),
            ("add_2", "AddV2", ["add_1", "Abs_2"]),
            ("Identity", "Identity", ["add_2"]),
        ]
