"""Functions made from the tables: arguments, errors, names. Texts are those of TensorFlow 2.21."""

import inspect
import pickle
import weakref

import numpy as np
import pytest

import graphwright as tf
from graphwright import _core


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("tf.tanh(0.0)", "tf.Tensor(0.0, shape=(), dtype=float32)"),
        ("tf.tanh(x=[0.0])", "tf.Tensor([0.], shape=(1,), dtype=float32)"),
        ("tf.tanh(np.array([0.0]), name='t')", "tf.Tensor([0.], shape=(1,), dtype=float64)"),
        ("tf.add(1, 2)", "tf.Tensor(3, shape=(), dtype=int32)"),
        ("tf.add(tf.constant(1.0), 2)", "tf.Tensor(3.0, shape=(), dtype=float32)"),
        ("tf.add(2, tf.constant(1.0))", "tf.Tensor(3.0, shape=(), dtype=float32)"),
        ("tf.add(x=1, y=2, name='q')", "tf.Tensor(3, shape=(), dtype=int32)"),
        ("tf.less(1, 2)", "tf.Tensor(True, shape=(), dtype=bool)"),
        ("tf.concat([[1], [2]], 0)", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
        (
            "tf.concat([tf.constant([1.]), [2]], axis=0)",
            "tf.Tensor([1. 2.], shape=(2,), dtype=float32)",
        ),
        ("tf.concat(tf.constant([1, 2]), 0)", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
        ("tf.stack([1, tf.constant(2)])", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
        ("tf.reduce_sum([[1, 2], [3, 4]])", "tf.Tensor(10, shape=(), dtype=int32)"),
        ("tf.reduce_sum([[1, 2], [3, 4]], 0)", "tf.Tensor([4 6], shape=(2,), dtype=int32)"),
        ("tf.reduce_sum([[1, 2], [3, 4]], [0, 1])", "tf.Tensor(10, shape=(), dtype=int32)"),
        (
            "tf.reduce_sum([[1, 2], [3, 4]], tf.constant(0))",
            "tf.Tensor([4 6], shape=(2,), dtype=int32)",
        ),
        (
            "tf.reduce_sum([[1, 2], [3, 4]], axis=-1, keepdims=True)",
            "tf.Tensor(\n[[3]\n [7]], shape=(2, 1), dtype=int32)",
        ),
        ("tf.zeros(2)", "tf.Tensor([0. 0.], shape=(2,), dtype=float32)"),
        ("tf.zeros([2], tf.int32)", "tf.Tensor([0 0], shape=(2,), dtype=int32)"),
        ("tf.zeros(tf.TensorShape([2]))", "tf.Tensor([0. 0.], shape=(2,), dtype=float32)"),
        ("tf.zeros(tf.constant([2]))", "tf.Tensor([0. 0.], shape=(2,), dtype=float32)"),
        ("tf.zeros([])", "tf.Tensor(0.0, shape=(), dtype=float32)"),
        ("tf.reshape([[1, 2]], -1)", "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
        ("tf.cast(1.7, 'int32')", "tf.Tensor(1, shape=(), dtype=int32)"),
        ("tf.cast(1, float)", "tf.Tensor(1.0, shape=(), dtype=float32)"),
        ("tf.where([True, False], [1.0, 2.0], 0)", "tf.Tensor([1. 0.], shape=(2,), dtype=float32)"),
        ("tf.boolean_mask([1, 2], [True, False])", "tf.Tensor([1], shape=(1,), dtype=int32)"),
        ("tf.strings.join(['a', 'b'])", "tf.Tensor(b'ab', shape=(), dtype=string)"),
        ("tf.matmul([[1, 2]], [[3], [4]])", "tf.Tensor([[11]], shape=(1, 1), dtype=int32)"),
        ("tf.raw_ops.AddV2(x=1, y=2)", "tf.Tensor(3, shape=(), dtype=int32)"),
    ],
)
def test_arguments(expression, text):
    assert str(eval(expression)) == text


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        ("tf.tanh()", TypeError, r"tanh\(\) missing 1 required positional argument: 'x'"),
        ("tf.add()", TypeError, r"add\(\) missing 2 required positional arguments: 'x' and 'y'"),
        (
            "tf.tanh(1., 2, 3)",
            TypeError,
            r"tanh\(\) takes from 1 to 2 positional arguments but 3 were",
        ),
        ("tf.tanh(1., foo=2)", TypeError, r"tanh\(\) got an unexpected keyword argument 'foo'"),
        ("tf.tanh(1., x=2.)", TypeError, r"tanh\(\) got multiple values for argument 'x'"),
        ("tf.tanh(1., name=3)", TypeError, "name must be a str or None"),
        ("tf.tanh('a')", tf.errors.InvalidArgumentError, "string is not in the list of allowed"),
        ("tf.tanh(1)", tf.errors.InvalidArgumentError, "int32 is not in the list of allowed"),
        (
            "tf.math.less(tf.constant(1), 1.5)",
            TypeError,
            "Cannot convert 1.5 to EagerTensor of dtype int32",
        ),
        ("tf.add(tf.constant(1), 1.5)", tf.errors.InvalidArgumentError, "cannot compute AddV2"),
        (
            "tf.reduce_sum([1], axis='a')",
            tf.errors.InvalidArgumentError,
            "to parameter 'axis' of op 'reduce_sum'",
        ),
        ("tf.reduce_sum([1], axis=5)", tf.errors.InvalidArgumentError, "5"),
        ("tf.concat(3, 0)", TypeError, "for argument 'values' of concat"),
        ("tf.zeros([1.5])", TypeError, "int32 or int64"),
        ("tf.zeros([None])", ValueError, "None"),
        ("tf.zeros(tf.TensorShape([None]))", ValueError, "partially known TensorShape"),
        ("tf.cast(1, 'nonsense')", TypeError, "nonsense"),
        ("tf.shape([1], tf.float32)", tf.errors.InvalidArgumentError, "float32 is not in the list"),
        ("tf.raw_ops.AddV2(1, 2)", TypeError, "only takes keyword args"),
        ("tf.raw_ops.Nonsense", AttributeError, "Nonsense"),
        ("tf.nonsense", AttributeError, "module 'graphwright' has no attribute 'nonsense'"),
        (
            "tf.math.nonsense",
            AttributeError,
            "module 'graphwright.math' has no attribute 'nonsense'",
        ),
    ],
)
def test_refused_arguments(expression, error, text):
    with pytest.raises(error, match=text):
        eval(expression)


def test_function_attributes():
    assert tf.math.tanh is tf.tanh
    assert tf.tanh.__name__ == tf.tanh.__qualname__ == "tanh"
    assert tf.tanh.__module__ == "graphwright"
    assert tf.math.log.__module__ == "graphwright.math"
    assert "tangent" in tf.tanh.__doc__
    assert repr(tf.tanh) == "<function graphwright.tanh>"
    assert str(inspect.signature(tf.tanh)) == "(x, name=None)"
    assert str(inspect.signature(tf.reduce_sum)) == (
        "(input_tensor, axis=None, keepdims=False, name=None)"
    )
    assert pickle.loads(pickle.dumps(tf.math.log)) is tf.math.log
    assert weakref.ref(tf.tanh)() is tf.tanh
    assert {tf.tanh: 1}[tf.math.tanh] == 1
    with pytest.raises(TypeError, match="made from the op and function tables"):
        type(tf.tanh)()


def test_calls_through_other_ways_than_vectorcall():
    arguments, keywords = ([1.0],), {"name": "n"}
    assert float(tf.tanh(*arguments, **keywords)[0]) == float(tf.tanh(1.0))
    import functools

    assert float(functools.partial(tf.add, y=2.0)(1.0)) == 3.0
    assert list(map(int, map(tf.negative, [tf.constant(1), tf.constant(2)]))) == [-1, -2]


@pytest.mark.parametrize("row", _core.op_rows(), ids=lambda row: row["name"])
def test_every_op_has_a_signature_and_a_doc(row):
    function = getattr(tf.raw_ops, row["name"])
    parameters = inspect.signature(function).parameters
    assert [p["name"] for p in row["inputs"]] == list(parameters)[: len(row["inputs"])]
    assert list(parameters)[-1] == "name"
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters.values())
    assert len(function.__doc__) >= 20


@pytest.mark.parametrize("row", _core.function_rows(), ids=lambda row: row["names"][0])
def test_every_function_has_a_signature_and_a_doc(row):
    function = tf
    for part in row["names"][0].split("."):
        function = getattr(function, part)
    assert list(inspect.signature(function).parameters)
    assert len(function.__doc__) >= 10


def test_several_outputs_have_names():
    row = next((r for r in _core.op_rows() if r["signature"].split("->")[1].count(":") > 1), None)
    if row is None:
        pytest.skip("no op has several outputs")
    assert callable(getattr(tf.raw_ops, row["name"]))


def nodes(function, *specs):
    graph = tf.function(function, autograph=False).get_concrete_function(*specs).graph
    return [(name, op, inputs) for name, op, inputs in graph._operation_rows()]


INTS = tf.TensorSpec([2], tf.int32)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x + 1", ["add/y", "add"]),
        ("1 - x", ["sub/x", "sub"]),
        ("x < 1", ["Less/y", "Less"]),
        ("x == 1", ["Equal/y", "Equal"]),
        ("tf.add(x, 1)", ["Add/y", "Add"]),
        ("tf.multiply(x, 2, name='mm')", ["mm/y", "mm"]),
        ("x / 2", ["truediv/y", "truediv/Cast", "truediv/Cast_1", "truediv"]),
        ("x // 2", ["floordiv/y", "floordiv"]),
        ("x % 2", ["mod/y", "mod"]),
        ("2 ** x", ["pow/x", "pow"]),
        ("abs(x)", ["Abs"]),
        ("-x", ["Neg"]),
        ("(x < 1) & True", ["Less/y", "Less", "and/y", "and"]),
        (
            "(x < 1) ^ (x < 2)",
            [
                *("Less/y", "Less", "Less_1/y", "Less_1"),
                *("xor/LogicalOr", "xor/LogicalAnd", "xor/LogicalNot", "xor"),
            ],
        ),
        (
            "x[0]",
            [
                "strided_slice/stack",
                "strided_slice/stack_1",
                "strided_slice/stack_2",
                "strided_slice",
            ],
        ),
        (
            "x[x[0]:]",
            [
                *("strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2"),
                *("strided_slice", "Const", "Const_1"),
                *("strided_slice_1/stack", "strided_slice_1/stack_1", "strided_slice_1/stack_2"),
                "strided_slice_1",
            ],
        ),
        ("tf.tanh(1.0)", ["Tanh/x", "Tanh"]),
        ("tf.concat([x, [1, 2]], 0)", ["concat/values_1", "concat/axis", "concat"]),
        ("tf.reduce_sum(x)", ["Const", "Sum"]),
        ("tf.reduce_sum(x, axis=0)", ["Sum/reduction_indices", "Sum"]),
        ("tf.constant(1, name='foo')", ["foo"]),
        ("tf.convert_to_tensor([x, x])", ["packed"]),
        ("tf.reshape(x, [1, 2])", ["Reshape/shape", "Reshape"]),
        ("tf.random.uniform([2])", ["random_uniform/shape", "random_uniform/RandomUniform"]),
        ("x + [1, 2]", ["add/y", "add"]),
    ],
)
def test_node_names(expression, expected):
    rows = nodes(lambda x: eval(expression, {"x": x, "tf": tf}), INTS)
    assert [name for name, _, _ in rows] == ["x", *expected, "Identity"]


def test_name_scopes_of_nodes():
    def body(x):
        with tf.name_scope("outer"):
            x = x + 1
            with tf.name_scope("inner"):
                x = tf.negative(x)
        with tf.name_scope("outer"):
            return x * 2

    names = [name for name, _, _ in nodes(body, INTS)]
    assert names == [
        "x",
        "outer/add/y",
        "outer/add",
        "outer/inner/Neg",
        "outer_1/mul/y",
        "outer_1/mul",
        "Identity",
    ]


SYMBOLIC = [
    ("x", "repr", "<tf.Tensor 'x:0' shape=(2,) dtype=int32>"),
    ("x", "str", 'Tensor("x:0", shape=(2,), dtype=int32)'),
    ("x + 1", "repr", "<tf.Tensor 'add:0' shape=(2,) dtype=int32>"),
    ("type(x).__name__", "str", "SymbolicTensor"),
    ("isinstance(x, tf.Tensor)", "str", "True"),
    ("x.name", "str", "x:0"),
    ("x.shape", "str", "(2,)"),
    ("x.ndim", "str", "1"),
    ("x.device", "repr", "''"),
    ("x == None", "str", "False"),
    ("x.op", "repr", "<tf.Operation 'x' type=Placeholder>"),
    ("(x + 1).op", "repr", "<tf.Operation 'add' type=AddV2>"),
    ("(x + 1).op.inputs[0]", "repr", "<tf.Tensor 'x:0' shape=(2,) dtype=int32>"),
    ("(x + 1).op.outputs", "repr", "[<tf.Tensor 'add:0' shape=(2,) dtype=int32>]"),
    ("x.op == x.op and hash(x.op) == hash(x.op)", "str", "True"),
    ("tf.reduce_sum(x, keepdims=True).op.get_attr('keep_dims')", "str", "True"),
    ("tf.cast(x, tf.float32).op.get_attr('DstT')", "repr", "tf.float32"),
    (
        "[-x, x.consumers()]",
        "str",
        "[<tf.Tensor 'Neg:0' shape=(2,) dtype=int32>, [<tf.Operation 'Neg' type=Neg>]]",
    ),
    ("x.value_index", "str", "0"),
    ("f'{x}'", "str", 'Tensor("x:0", shape=(2,), dtype=int32)'),
    ("np.array([1, 2]) + x", "repr", "<tf.Tensor 'add:0' shape=(2,) dtype=int32>"),
]


@pytest.mark.parametrize(("expression", "how", "expected"), SYMBOLIC)
def test_symbolic(expression, how, expected):
    seen = []

    @tf.function(autograph=False)
    def trace(x):
        seen.append({"repr": repr, "str": str}[how](eval(expression, {"x": x, "tf": tf, "np": np})))

    trace(tf.constant([1, 2]))
    assert seen == [expected]


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        (
            "bool(x)",
            tf.errors.OperatorNotAllowedInGraphError,
            "Using a symbolic `tf.Tensor` as a Python",
        ),
        (
            "list(x)",
            tf.errors.OperatorNotAllowedInGraphError,
            "Iterating over a symbolic `tf.Tensor`",
        ),
        ("x in [1]", TypeError, "Python `bool` is not allowed"),
        ("len(x)", TypeError, r"len is not well defined for a symbolic Tensor \(x:0\)"),
        ("int(x)", TypeError, "not '.*SymbolicTensor'"),
        ("float(x)", TypeError, "not '.*SymbolicTensor'"),
        ("range(x)", TypeError, "SymbolicTensor' object cannot be interpreted as an integer"),
        ("np.asarray(x)", NotImplementedError, r"Cannot convert a symbolic tf.Tensor \(x:0\)"),
        ("x.numpy()", AttributeError, "'SymbolicTensor' object has no attribute 'numpy'"),
        ("hash(x)", TypeError, "Tensor is unhashable"),
        ("x.foo", AttributeError, "'SymbolicTensor' object has no attribute 'foo'"),
        ("x + 1.5", TypeError, "type float32 that does not match type int32"),
        ("x - 1.5", TypeError, "int32"),
        ("x + tf.constant(1.0)", TypeError, "type float32 that does not match type int32"),
        ("x + tf.constant([1, 2, 3])", ValueError, r"\[2\] vs. \[3\]"),
        ("x + None", ValueError, "None"),
        ("pickle.dumps(x)", TypeError, "cannot pickle 'SymbolicTensor' object"),
        ("x.set_shape([3])", ValueError, "2 and 3|not compatible"),
        ("tf.constant(x)", TypeError, "tf.constant needs a value that is known now"),
    ],
)
def test_symbolic_refuses(expression, error, text):
    @tf.function(autograph=False)
    def trace(x):
        eval(expression, {"x": x, "tf": tf, "np": np, "pickle": pickle})

    with pytest.raises(error, match=text):
        trace(tf.constant([1, 2]))


def test_errors_of_running_graphs_name_the_line():
    @tf.function(autograph=False)
    def divide(x, y):
        return x // y

    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        divide(tf.constant(1), tf.constant(0))
    text = str(info.value)
    assert "Integer division by zero" in text
    assert "Detected at node floordiv defined at (most recent call last):" in text
    line = inspect.getsourcelines(divide.python_function)[1] + 2
    assert f'File "{__file__}", line {line}, in divide' in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (lambda: ("a", tf.constant([1, 2])), "a [1 2]\n"),
        (lambda: (tf.constant("s"),), "s\n"),
        (lambda: (tf.constant("s"), tf.constant("s")), '"s" "s"\n'),
        (lambda: (0.1, 1, True, None, "q"), "0.1 1 True None q\n"),
        (
            lambda: ([tf.constant([1]), "x"], {"b": 1, "a": tf.constant([0.1])}),
            "[[1], 'x'] {'a': [0.1], 'b': 1}\n",
        ),
        (lambda: ((tf.constant(1),),), "(1,)\n"),
        (lambda: ("{}", tf.constant(1)), "{} 1\n"),
        (lambda: (tf.constant([True, False]),), "[1 0]\n"),
        (lambda: (tf.range(20),), "[0 1 2 ... 17 18 19]\n"),
        (lambda: (tf.Variable([1.0, 2.0]), "v"), "[1 2] v\n"),
        (lambda: (tf.constant(1e10), tf.constant(123456789.0)), "1e+10 123456792\n"),
        (lambda: (), "\n"),
    ],
)
def test_print(arguments, expected, capfd):
    values = arguments()
    tf.print(*values)
    assert capfd.readouterr().err == expected
    tf.function(lambda: (tf.print(*values), None)[1], autograph=False)()
    assert capfd.readouterr().err == expected


def test_print_options(capfd, tmp_path):
    import sys

    tf.print(tf.constant(1), "b", sep="-", end="!", output_stream=sys.stdout)
    assert capfd.readouterr().out == "1-b!"
    tf.print(tf.range(20), summarize=1)
    tf.print(tf.range(5), summarize=-1)
    assert capfd.readouterr().err == "[0 ... 19]\n[0 1 2 3 4]\n"
    path = tmp_path / "log"
    tf.print("one", output_stream=f"file://{path}")
    tf.print("two", output_stream=f"file://{path}")
    assert path.read_text() == "one\ntwo\n"
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(1, output_stream="nowhere")
