"""graphwright.show, event files, tf.io.write_graph and tensors as messages."""

import json
import re
import struct

import numpy as np
import pytest

import graphwright as tf
from graphwright import _core, _protobuf


def concrete():
    @tf.function
    def inner(y):
        return y * 2.0

    @tf.function
    def program(x):
        i = tf.constant(0)
        while i < 3:
            x = x + 1.0
            i += 1
        with tf.name_scope("</script>"[2:8]):
            if tf.reduce_sum(x) > 0.0:
                x = inner(x)
        return x

    return program.get_concrete_function(tf.TensorSpec([2], name="x"))


def test_page_is_one_file_with_its_data(tmp_path):
    page = tf.show(concrete())
    path = page.save(tmp_path / "graph.html")
    text = open(path, encoding="utf-8").read()
    assert text == page.html
    assert [file.name for file in tmp_path.iterdir()] == ["graph.html"]
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    data = re.search(r'type="application/json">(.*?)</script>', text, re.DOTALL).group(1)
    graph = json.loads(data)["graph"]
    loop = next(node for node in graph["nodes"] if node["op"] == "While")
    assert loop["name"] == "while"
    assert [block["kind"] for block in loop["blocks"]] == ["condition", "body"]
    add = next(node for node in loop["blocks"][1]["nodes"] if node["op"] == "AddV2")
    assert add["outputs"] == [["while/add:0", "float32(2,)"]]
    assert "test_show.py:" in add["lines"][-1]
    assert list(json.loads(data)["functions"])[0].startswith("__inference_inner")
    assert page._repr_html_().startswith("<iframe srcdoc=")


def test_text():
    text = tf.show(concrete()).text
    assert "  while:0 int32()" in text
    assert "    body(" in text
    assert "      while/add:0 float32(2,) = AddV2(" in text
    assert "calls __inference_inner" in text
    assert str(tf.show(concrete()))
    with pytest.raises(TypeError, match=r"show\(\) takes a tf.Graph"):
        tf.show(3)


def test_shows_graphs_messages_and_functions():
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(1.0, name="one") + 2.0
    assert "one:0" in tf.show(graph).text
    assert "one:0" in tf.show(graph.as_graph_def()).text
    assert "AddV2" in tf.show(tf.function(lambda x: x + 1.0), tf.TensorSpec([2])).text


def test_shows_all_traces_of_a_function():
    @tf.function
    def polymorphic(x):
        return x + 1.0

    with pytest.raises(ValueError, match="'polymorphic', which has not been traced"):
        tf.show(polymorphic)
    polymorphic(tf.constant(1.0))
    assert tf.show(polymorphic).text.startswith("polymorphic(x:0 float32()")
    polymorphic(tf.constant([1.0, 2.0]))
    page = tf.show(polymorphic)
    for trace in polymorphic._list_all_concrete_functions():
        assert f"calls {trace.name.decode()}" in page.text
    assert "float32(2,) = AddV2(" in page.text
    assert "float32() = AddV2(" in page.text
    functions = json.loads(
        re.search(r'application/json">(.*?)</script>', page.html, re.DOTALL).group(1)
    )["functions"]
    assert len(functions) == 2


def test_strings_of_programs_are_no_markup():
    evil = '</script><script>alert("1")</script><!--\'&'

    def program():
        return tf.constant(evil)

    program.__name__ = evil
    graph = tf.Graph()
    with graph.as_default():
        program()
    message = graph.as_graph_def()
    function = tf.function(program, autograph=False)
    function()
    title = "__DATA__<img src=x onerror='alert(1)'>"
    titled = type(tf.show(graph))(_core.graph_rows(graph), title)
    for page in (tf.show(graph), tf.show(message), tf.show(function), titled):
        text = page.html
        assert text.count("<script") == 2
        assert text.count("</script>") == 2
        assert "<!--" not in text
        assert "<img" not in text
        data = re.search(r'application/json">(.*?)</script>', text, re.DOTALL).group(1)
        nodes = json.loads(data)["graph"]["nodes"]
        assert any("<script>alert" in str(node["attributes"]) for node in nodes)
        frame = re.fullmatch(
            r'<iframe srcdoc="([^"]*)" style="[^"<]*"></iframe>', page._repr_html_()
        )
        assert frame and "<" not in frame.group(1)


def test_the_page_writes_names_as_text_only():
    script = tf.show(concrete()).html
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


def test_event_file(tmp_path):
    tf.show(concrete(), tensorboard=tmp_path / "logs")
    (file,) = (tmp_path / "logs").iterdir()
    assert "tfevents" in file.name
    contents = file.read_bytes()
    records = []
    while contents:
        (length,) = struct.unpack("<Q", contents[:8])
        head, body = contents[:8], contents[12 : 12 + length]
        assert struct.unpack("<I", contents[8:12])[0] == _core.masked_crc32c(head)
        end = 16 + length
        assert struct.unpack("<I", contents[12 + length : end])[0] == _core.masked_crc32c(body)
        records.append(body)
        contents = contents[end:]
    assert len(records) == 2
    assert b"brain.Event:2" in records[0]
    assert concrete().graph.as_graph_def().node[0].name.encode() in records[1]


def test_checksum():
    # RFC 3720, B.4: 32 bytes of zeros have the CRC-32C 0x8A9136AA.
    crc = 0x8A9136AA
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    assert _core.masked_crc32c(bytes(32)) == masked


def test_write_graph(tmp_path):
    graph = concrete().graph
    text = tf.io.write_graph(graph, tmp_path / "a", "graph.pbtxt")
    assert open(text).read().startswith("node {")
    binary = tf.io.write_graph(graph.as_graph_def(), tmp_path / "a", "graph.pb", as_text=False)
    assert _protobuf.graph_def(open(binary, "rb").read()) == graph.as_graph_def()
    (tmp_path / "file").write_text("")
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not a directory"):
        tf.io.write_graph(graph, tmp_path / "file", "graph.pb")
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == ["graph.pb", "graph.pbtxt"]


@pytest.mark.parametrize(
    "value", [1.5, [1, 2, 3], [[True, False]], "text", [b"a", b"bc"], np.arange(6.0).reshape(2, 3)]
)
def test_tensor_protos(value):
    message = tf.make_tensor_proto(value)
    expected = tf.constant(value).numpy()
    assert np.array_equal(tf.make_ndarray(message), expected)


def test_tensor_protos_of_a_shape():
    message = tf.make_tensor_proto(3, dtype=tf.int64, shape=[2, 2])
    assert list(message.int64_val) == [3]
    assert tf.make_ndarray(message).tolist() == [[3, 3], [3, 3]]
    assert list(tf.make_tensor_proto([1.0, 2.0], shape=[3]).float_val) == [1.0, 2.0]
    with pytest.raises(ValueError, match="None values not supported"):
        tf.make_tensor_proto(None)


def test_specs_as_messages():
    spec = tf.TensorSpec([2, None], tf.int32, "n")
    message = spec.experimental_as_proto()
    assert [dim.size for dim in message.shape.dim] == [2, -1]
    assert (message.name, message.dtype) == ("n", tf.int32.as_datatype_enum)
    assert tf.TensorSpec.experimental_from_proto(message) == spec
    assert tf.TensorShape(None).as_proto().unknown_rank
    assert tf.TensorSpec.experimental_type_proto() is type(message)
