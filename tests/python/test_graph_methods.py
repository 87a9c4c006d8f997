"""Methods of tf.Graph that set what new nodes get, and names of exported functions. Texts and names
are TensorFlow 2.21's."""

import pytest

import graphwright as tf


def function_names(graph):
    return {function.signature.name for function in graph.as_graph_def().library.function}


def graph_with_loop():
    @tf.function
    def inner(y):
        return tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [y])[0]

    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
        tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [x])
        tf.cond(x > 0.0, lambda: x, lambda: inner(x))
    return graph


def test_functions_of_two_graphs_never_share_a_name():
    first, second = graph_with_loop(), graph_with_loop()
    names = function_names(first)
    assert len(names) == 7
    assert not names & function_names(second)
    assert function_names(first) == names
    with first.as_default():
        z = tf.constant(2.0)
        tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [z])
    assert names < function_names(first)
    assert len(function_names(first)) == 9


def test_imported_functions_get_names_of_their_own():
    first = graph_with_loop()
    again = tf.Graph()
    with again.as_default():
        tf.import_graph_def(first.as_graph_def(), name="")
    assert not function_names(first) & function_names(again)
    assert len(function_names(again)) == 7


def test_scopes():
    graph, other = tf.Graph(), tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0, name="a")
        with graph.control_dependencies([a.op]):
            b = tf.constant(2.0, name="b")
        assert [op.name for op in b.op.control_inputs] == ["a"]
        with graph.name_scope("s") as scope:
            assert scope == "s/"
            assert (a + 1.0).name == "s/add:0"
        with other.name_scope("elsewhere"), other.device("/cpu:0"):
            c = a + 1.0
            assert c.name == "add:0"
            assert c.op.device == ""
            with other.as_default():
                assert tf.constant(1.0).name == "elsewhere/Const:0"
        with pytest.raises(ValueError, match="is not an element of this graph"):
            other.control_dependencies([a])
        with graph.control_dependencies([a.op]), graph.control_dependencies(None):
            assert not tf.constant(1.0).op.control_inputs


def test_devices():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0)
        with graph.device("/cpu:0"):
            assert (a + 2.0).op.device == "/device:CPU:0"
            with graph.device("/job:w"):
                assert (a + 2.0).op.device == "/job:w/device:CPU:0"
            with graph.device(None):
                assert (a + 2.0).op.device == ""
        assert (a + 2.0).op.device == ""
        with pytest.raises(ValueError, match="Unknown attribute 'rubbish' is encountered while"):
            graph.device("rubbish").__enter__()
        with pytest.raises(NotImplementedError, match="Graph.device with a function"):
            graph.device(lambda op: "/cpu:0").__enter__()
        with pytest.raises(TypeError, match="takes a string or None, not int"):
            graph.device(3).__enter__()
        with graph.colocate_with(a.op):
            assert (a * 2.0).name == "mul:0"


def test_what_may_be_fed_and_fetched():
    graph = tf.Graph()
    with graph.as_default():
        a, b = tf.constant(1.0), tf.constant(2.0)
    assert graph.is_feedable(a) and graph.is_fetchable(b.op)
    graph.prevent_feeding(a)
    graph.prevent_fetching(b.op)
    assert not graph.is_feedable(a) and graph.is_feedable(b)
    assert not graph.is_fetchable(b.op) and not graph.is_fetchable(b)
    assert graph.is_fetchable(a)


@pytest.mark.parametrize(
    "name",
    [
        "container",
        "create_op",
        "new_operations",
        "gradient_override_map",
        "switch_to_thread_local",
        "get",
        "Dismantle",
    ],
)
def test_what_is_not_there_says_so(name):
    with pytest.raises(NotImplementedError, match=f"Graph.{name} is not available: "):
        getattr(tf.Graph(), name)()
