"""Event files and written graphs as TensorFlow and TensorBoard read them."""

import pytest

import graphwright

tensorflow = pytest.importorskip("tensorflow")


@graphwright.function
def program(x):
    i = graphwright.constant(0)
    while i < 3:
        x = x + 1.0
        i += 1
    return x


def graph():
    return program.get_concrete_function(graphwright.TensorSpec([2], name="x")).graph


def names(graph_def):
    return [node.name for node in graph_def.node]


def test_tensorflow_reads_the_events(tmp_path):
    graphwright.show(graph(), tensorboard=tmp_path)
    (file,) = tmp_path.iterdir()
    events = list(tensorflow.compat.v1.train.summary_iterator(str(file)))
    assert events[0].file_version == "brain.Event:2"
    read = tensorflow.compat.v1.GraphDef.FromString(events[1].graph_def)
    assert names(read) == names(graph().as_graph_def())


def test_tensorboard_shows_the_graph(tmp_path):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    graphwright.show(graph(), tensorboard=tmp_path)
    accumulator = accumulators.EventAccumulator(str(tmp_path))
    accumulator.Reload()
    assert names(accumulator.Graph()) == names(graph().as_graph_def())


@pytest.mark.parametrize("as_text", [True, False])
def test_tensorflow_reads_written_graphs(tmp_path, as_text):
    from google.protobuf import text_format

    path = graphwright.io.write_graph(graph(), tmp_path, "graph", as_text=as_text)
    with open(path, "rb") as file:
        contents = file.read()
    message = tensorflow.compat.v1.GraphDef()
    if as_text:
        text_format.Parse(contents.decode(), message)
    else:
        message.ParseFromString(contents)
    assert message.SerializeToString(
        deterministic=True
    ) == graph().as_graph_def().SerializeToString(deterministic=True)


def test_tensors_as_messages():
    for value in ([1.5, 2.5], [[1, 2]], "text", [True, False]):
        ours = graphwright.make_tensor_proto(value)
        theirs = tensorflow.make_tensor_proto(value)
        assert ours.SerializeToString() == theirs.SerializeToString()
        message = type(theirs).FromString(ours.SerializeToString())
        assert (tensorflow.make_ndarray(message) == graphwright.make_ndarray(ours)).all()
