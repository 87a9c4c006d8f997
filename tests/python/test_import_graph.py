"""tf.import_graph_def of what is exported, wrap_function and prune. Texts are TensorFlow's."""

import random
import re

import numpy as np
import pytest

import graphwright as tf

v1 = tf.compat.v1


def graph_lines(graph_def):
    """Every node as text, functions renumbered by first use, without attributes that say where a
    thing was made."""
    numbers = {}

    def renumber(text):
        return re.sub(
            r"\w+_(?:cond|body|true|false|branch\d+)_\d+|__inference_\w+",
            lambda match: f"function{numbers.setdefault(match[0], len(numbers))}",
            text,
        )

    def line(node):
        attributes = {
            key: str(node.attr[key]) for key in sorted(node.attr) if not key.startswith("_")
        }
        return renumber(f"{node.name} = {node.op}{list(node.input)} {attributes}")

    lines = [line(node) for node in graph_def.node]
    for function in graph_def.library.function:
        lines.append(renumber(function.signature.name))
        lines.append(renumber(str([argument.name for argument in function.signature.input_arg])))
        lines.extend(line(node) for node in function.node_def)
        lines.append(renumber(str(sorted(function.ret.items()))))
    return lines


def straight(x):
    with tf.name_scope("layer"):
        y = tf.tanh(x) * 2.0
    parts = tf.split(y, 2)
    return tf.concat([parts[1], parts[0]], 0), tf.cast(x, tf.int32)


def loop(x):
    i = tf.constant(0)
    while i < 3:
        x = x + y_of(x)
        i += 1
    return x


def y_of(x):
    return tf.reduce_sum(x) * 0.5


def branch(x):
    if tf.reduce_sum(x) > 0.0:
        y = tf.tanh(x)
    else:
        y = x - 1.0
    return y


def nested(x):
    scale = tf.exp(x)
    for i in tf.range(3):
        if tf.reduce_sum(x) > 4.0:
            x = x * 0.5
        else:
            x = x + scale * tf.cast(i, tf.float32)
    return x


def call(x):
    @tf.function
    def inner(y):
        if y[0] > 0.0:
            y = y * 2.0
        return y, y + 1.0

    a, b = inner(x)
    return a * b


def text(x):
    return tf.strings.join(["a", tf.strings.as_string(x)])


PROGRAMS = [straight, loop, branch, nested, call, text]


def exported(program):
    concrete = tf.function(program).get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))
    return concrete, concrete.graph.as_graph_def()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_exporting_again_gives_the_same_nodes(program):
    _, graph_def = exported(program)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    assert graph_lines(graph.as_graph_def()) == graph_lines(graph_def)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_imported_graphs_compute_the_same(program):
    concrete, graph_def = exported(program)
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    names = [
        f"{node.name}:0" for node in graph_def.node if re.match(r"Identity(_\d+)?$", node.name)
    ]
    imported = wrapped.prune("x:0", names)
    for value in ([0.5, -2.0], [3.0, 1.0]):
        value = tf.constant(value)
        ours = tf.nest.flatten(concrete(value))
        assert len(ours) == len(names)
        for mine, other in zip(ours, imported(value), strict=True):
            np.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_variables_are_fed_as_handles():
    variable = tf.Variable([1.0, 2.0])

    @tf.function
    def program(x):
        variable.assign_add(x)
        return variable * 2.0

    concrete = program.get_concrete_function(tf.TensorSpec([2], name="x"))
    graph_def = concrete.graph.as_graph_def()
    handle = concrete.graph.captures[0][1].name
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(graph_def, name=""), [])
    imported = wrapped.prune(["x:0", handle], "Identity:0")
    other = tf.Variable([10.0, 20.0])
    result = imported(tf.constant([1.0, 1.0]), other.handle)
    assert result.numpy().tolist() == [22.0, 42.0]
    assert other.numpy().tolist() == [11.0, 21.0]
    assert variable.numpy().tolist() == [1.0, 2.0]


def simple():
    graph = tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.float32, [2], name="a")
        b = tf.multiply(a, 2.0, name="b")
        tf.add(a, b, name="c")
    return graph.as_graph_def()


def imported_names(graph_def, **options):
    graph = tf.Graph()
    with graph.as_default():
        elements = tf.import_graph_def(graph_def, **options)
    return elements, [operation.name for operation in graph.get_operations()]


def test_scopes_of_imports():
    assert imported_names(simple())[1] == ["import/a", "import/b/y", "import/b", "import/c"]
    assert imported_names(simple(), name="")[1] == ["a", "b/y", "b", "c"]
    assert imported_names(simple(), name="x/y")[1][0] == "x/y/a"
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(simple())
        tf.import_graph_def(simple())
        tf.import_graph_def(simple(), name="")
        with pytest.raises(ValueError, match="Node name 'a' already exists in the Graph"):
            tf.import_graph_def(simple(), name="")
    assert graph.get_operations()[4].name == "import_1/a"


def test_return_elements_and_input_map():
    elements, _ = imported_names(simple(), return_elements=["b", "b:0", "c"])
    assert [element.name for element in elements] == ["import/b", "import/b:0", "import/c"]
    assert elements[0] is elements[1].op
    _, names = imported_names(simple(), input_map={"a": np.array([1.0, 2.0], np.float32)})
    assert names == ["import/_inputs/Const", "import/a", "import/b/y", "import/b", "import/c"]
    for wrong, error, text in (
        ({"return_elements": ["zz"]}, ValueError, "return node 'zz' not found in graph def"),
        ({"return_elements": ["b:4"]}, ValueError, "Invalid return output 4 of node 'b'"),
        ({"return_elements": [3]}, TypeError, "`return_elements` must be a list of strings"),
        ({"input_map": [1]}, TypeError, "`input_map` must be a dictionary"),
        ({"input_map": {3: 1.0}}, TypeError, "`input_map` must be strings"),
        ({"input_map": {"zz": [1.0]}}, ValueError, r"not found in graph_def: \[zz\]"),
    ):
        with pytest.raises(error, match=text):
            imported_names(simple(), **wrong)


def change(statement):
    graph_def = simple()
    exec(statement, {"d": graph_def})
    return graph_def


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("d.node[1].op = 'Nope'", tf.errors.NotFoundError, "Op type not registered 'Nope'"),
        ("d.node[3].input[0] = 'zz'", ValueError, "Node 'c': Unknown input node 'zz'"),
        ("d.node[3].input[0] = 'b:7'", ValueError, "Node 'c': Connecting to invalid output 7"),
        ("d.node[3].input[0] = 'b:x'", ValueError, "Node 'c'"),
        ("d.node[3].input.append('^zz')", ValueError, r"Node 'c': Unknown input node '\^zz'"),
        ("d.node[3].input[0] = '^b'", ValueError, "c"),
        ("del d.node[3].input[1]", ValueError, "node import/c"),
        ("d.node[3].input.append('a')", ValueError, "node import/c"),
        ("d.node[2].input[0] = 'c'", ValueError, "2 nodes in a cycle"),
        ("d.node[3].name = 'b'", ValueError, "Node 'b' is not unique"),
        ("d.node[3].name = 'b c'", ValueError, "Node name contains invalid characters"),
        ("d.node[3].name = ''", ValueError, "Node name contains invalid characters"),
        ("del d.node[3].attr['T']", ValueError, "NodeDef missing attr 'T'"),
        ("d.node[3].attr['T'].type = 3", ValueError, "passed float incompatible with"),
        ("d.node[3].attr['T'].i = 3", ValueError, "type 'int' when 'type' expected"),
        ("d.versions.min_consumer = 99999999", ValueError, "min consumer version"),
    ],
)
def test_faults_name_the_node(statement, error, text):
    with pytest.raises(error, match=text):
        imported_names(change(statement))


def test_functions_that_are_missing_or_call_themselves():
    _, graph_def = exported(loop)
    del graph_def.library.function[:]
    with pytest.raises(ValueError, match=r"Node 'while': the function 'while_cond_\d+'"):
        imported_names(graph_def)
    _, graph_def = exported(loop)
    node = next(node for node in graph_def.node if node.op == "StatelessWhile")
    body = next(
        f for f in graph_def.library.function if f.signature.name == node.attr["body"].func.name
    )
    inner = body.node_def.add()
    inner.CopyFrom(node)
    inner.name = "again"
    del inner.input[:]
    inner.input.extend(argument.name for argument in body.signature.input_arg)
    with pytest.raises(tf.errors.UnimplementedError, match="calls itself"):
        imported_names(graph_def)


def test_prune():
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(simple(), name=""), [])
    pruned = wrapped.prune("a:0", {"x": "c:0", "y": ["b:0"]})
    result = pruned(tf.constant([1.0, 2.0]))
    assert result["x"].numpy().tolist() == [3.0, 6.0]
    assert result["y"][0].numpy().tolist() == [2.0, 4.0]
    assert [op.name for op in wrapped.prune("a:0", "b:0").graph.get_operations()][:3] == [
        "a",
        "b/y",
        "b",
    ]
    assert wrapped.prune("a:0", "c")(tf.constant([1.0, 2.0])) is None
    with pytest.raises(KeyError, match="'zz:0' refers to a Tensor which does not exist"):
        wrapped.prune("zz:0", "c:0")
    with pytest.raises(ValueError, match="All members of argument `feeds` must be tensors"):
        wrapped.prune("a", "c:0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder"):
        wrapped.prune([], "c:0")()


def test_hostile_bytes_never_crash():
    generator = random.Random(7)
    seeds = [exported(program)[1].SerializeToString() for program in PROGRAMS]
    outcomes = {"imported": 0, "refused": 0}
    for round_ in range(600):
        data = bytearray(seeds[round_ % len(seeds)])
        for _ in range(generator.choice([1, 1, 1, 2, 8])):
            kind = generator.choice([0, 0, 0, 0, 0, 1, 2, 3])
            at = generator.randrange(len(data))
            if kind == 0:
                data[at] = generator.randrange(256)
            elif kind == 1:
                del data[at : at + generator.randrange(1, 9)]
            elif kind == 2:
                data[at:at] = bytes(generator.randrange(256) for _ in range(4))
            else:
                other = generator.randrange(len(data))
                data[at : at + 16] = data[other : other + 16]
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf._core.import_graph_def(bytes(data), "", {})
            graph.as_graph_def()
            outcomes["imported"] += 1
        except (ValueError, TypeError, NotImplementedError, tf.errors.OpError):
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10, outcomes
