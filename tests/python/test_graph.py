"""tf.Graph, tf.Operation and the names that lead to them. Texts and names are TensorFlow 2.21's."""

import pytest

import graphwright as tf


def small_graph():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.multiply(a, 2.0, name="b")
        parts = tf.split(b, 2)
    return graph, a, b, parts


def test_lookup_gives_the_objects_themselves():
    graph, a, b, parts = small_graph()
    assert graph.get_tensor_by_name("a:0") is a
    assert graph.get_operation_by_name("a") is a.op
    assert a.op.outputs[0] is a
    assert b.op.inputs[0] is a
    assert graph.as_graph_element("a") is a.op
    assert graph.as_graph_element(a) is a
    assert a.graph is graph
    assert a.op.graph is graph
    assert parts[1].name == "split:1"
    assert parts[1].value_index == 1
    assert a.consumers() == [b.op]


def test_operations_are_in_order():
    graph, _, b, _ = small_graph()
    names = [operation.name for operation in graph.get_operations()]
    assert names == ["a", "b/y", "b", "split/split_dim", "split"]
    assert graph.get_operations()[2] is b.op
    assert graph.version == 5
    assert repr(b.op) == "<tf.Operation 'b' type=Mul>"
    assert list(b.op.node_def.input) == ["a", "b/y"]
    assert [argument.name for argument in b.op.op_def.input_arg] == ["x", "y"]
    assert b.op.op_def.is_commutative
    assert b.op.colocation_groups() == [b"loc:@b"]
    assert b.op.traceback[-1].name == "small_graph"


def test_attributes():
    graph, a, _, parts = small_graph()
    assert a.op.get_attr("dtype") is tf.float32
    assert a.op.get_attr("value").tensor_content == b"\0\0\x80?\0\0\0@"
    assert parts[0].op.get_attr("num_split") == 2
    with pytest.raises(ValueError, match="Operation 'a' has no attr named 'nope'."):
        a.op.get_attr("nope")
    shapes = graph.as_graph_def(add_shapes=True).node[0].attr["_output_shapes"].list.shape
    assert [dim.size for dim in shapes[0].dim] == [2]


@pytest.mark.parametrize(
    ("method", "argument", "error", "text"),
    [
        ("get_tensor_by_name", "zz:0", KeyError, "The operation, 'zz', does not exist"),
        ("get_tensor_by_name", "a", ValueError, "refers to an Operation, not a Tensor"),
        ("get_tensor_by_name", "a:3", KeyError, "exists but only has 1 outputs"),
        ("get_tensor_by_name", "a:x", ValueError, "is not a valid one"),
        ("get_tensor_by_name", 3, TypeError, "Tensor names are strings"),
        ("get_operation_by_name", "zz", KeyError, "refers to an Operation not in the graph"),
        ("get_operation_by_name", "a:0", ValueError, "refer to a Tensor, not a Operation"),
        ("get_operation_by_name", 3, TypeError, "Operation names are strings"),
        ("as_graph_element", 3, TypeError, "Can not convert a int into a Tensor or Operation."),
    ],
)
def test_lookup_errors(method, argument, error, text):
    graph, *_ = small_graph()
    with pytest.raises(error, match=text):
        getattr(graph, method)(argument)


def test_elements_of_other_graphs_are_refused():
    _, a, *_ = small_graph()
    with pytest.raises(ValueError, match="is not an element of this graph"):
        tf.Graph().as_graph_element(a)


def test_finalized_graphs_refuse_ops():
    graph, *_ = small_graph()
    assert not graph.finalized
    graph.finalize()
    assert graph.finalized
    with graph.as_default(), pytest.raises(RuntimeError, match="Graph is finalized"):
        tf.constant(3)


def test_collections():
    graph = tf.Graph()
    graph.add_to_collection("c", 1)
    graph.add_to_collections(["c", "d"], 2)
    assert graph.get_collection("c") == [1, 2]
    assert graph.get_collection("none") == []
    assert graph.get_all_collection_keys() == ["c", "d"]
    graph.get_collection_ref("d").append(3)
    assert graph.get_collection("d") == [2, 3]
    graph.clear_collection("c")
    assert graph.get_collection("c") == []


def test_scopes_entered_again():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(1.0)
        with tf.name_scope("s") as first:
            pass
        with tf.name_scope("s") as second:
            b = a * 2.0
        with tf.name_scope("s"), tf.name_scope("t"):
            with tf.name_scope("s_1/") as again:
                c = a * 2.0
            with tf.name_scope(""):
                d = a * 2.0
                assert graph.get_name_scope() == ""
            assert graph.get_name_scope() == "s_2/t"
    assert (first, second, again) == ("s/", "s_1/", "s_1/")
    assert (b.name, c.name, d.name) == ("s_1/mul:0", "s_1/mul_1:0", "mul:0")
    assert graph.unique_name("mul") == "mul_1"


def test_placeholders():
    graph = tf.Graph()
    with graph.as_default():
        p = tf.compat.v1.placeholder(tf.float32, [None, 2], name="p")
        q = tf.compat.v1.placeholder("int32")
        assert tf.compat.v1.get_default_graph() is graph
    assert p.shape.as_list() == [None, 2]
    assert (p.op.type, q.name, q.dtype) == ("Placeholder", "Placeholder:0", tf.int32)
    assert q.shape.rank is None
    assert [dim.size for dim in p.op.get_attr("shape").dim] == [-1, 2]
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.placeholder(tf.float32)


def test_graphs_of_functions():
    @tf.function(autograph=False)
    def f(x, y=3):
        return {"a": x + 1.0}, y

    concrete = f.get_concrete_function(tf.TensorSpec([2]))
    graph = concrete.graph
    assert concrete.graph is graph
    assert graph.name == "f"
    assert graph.building_function
    assert concrete.outputs[0] is graph.outputs[0]
    assert [tensor.name for tensor in graph.inputs] == ["x:0"]
    assert [tensor.name for tensor in graph.outputs] == ["Identity:0", "Identity_1:0"]
    assert graph.structured_input_signature[0][1] == 3
    assert graph.structured_outputs[0]["a"] is graph.outputs[0]
    assert concrete.function_def.signature.output_arg[0].name == "identity"
    assert isinstance(graph, tf.Graph)


def test_what_only_the_exported_form_has():
    @tf.function
    def f(x):
        i = tf.constant(0)
        while i < 3:
            x = x + 1.0
            i += 1
        if tf.reduce_sum(x) > 0.0:
            x = x * 2.0
        return x

    graph = f.get_concrete_function(tf.TensorSpec([2])).graph
    loop = graph.get_operation_by_name("while")
    assert loop.type == "StatelessWhile"
    assert [tensor.name for tensor in loop.inputs] == [
        "while/loop_counter:0",
        "while/maximum_iterations:0",
        "x:0",
        "Const:0",
    ]
    counter = loop.inputs[0]
    assert counter is graph.get_tensor_by_name("while/loop_counter:0")
    assert counter.op.type == "Const"
    assert counter.shape == []
    assert [tensor.name for tensor in loop.outputs] == [f"while:{i}" for i in range(4)]
    branch = graph.get_operation_by_name("cond")
    assert branch.outputs[0].consumers()[0].name == "cond/Identity"
    assert branch.get_attr("then_branch").name.startswith("cond_true")
    assert branch.get_attr("Tout") == [tf.float32]
    assert loop.get_attr("parallel_iterations") == 10
