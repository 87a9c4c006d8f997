"""Programs with control flow by hand, and what TensorFlow makes of them.

`record(module)` runs them all with a package of TensorFlow's interface; what TensorFlow 2.21 gave
is in data/control_flow.json, written by ``python control_flow_programs.py tensorflow``.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from typing import Any

NAN = float("nan")
INF = float("inf")


def graph_programs(tf: Any) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """Functions to trace, with the specs of their arguments."""
    scalar = tf.TensorSpec([], tf.float32)
    integer = tf.TensorSpec([], tf.int32)
    flag = tf.TensorSpec([], tf.bool)
    vector = tf.TensorSpec([None], tf.float32)
    three = tf.TensorSpec([3], tf.float32)
    rows = tf.TensorSpec([None, 2], tf.float32)
    unknown = tf.TensorSpec(None, tf.float32)
    named = tf.TensorSpec([None, 3], tf.float32)

    def after(operation: Any, x: Any) -> Any:
        del operation
        return x

    def dependent(x):
        a = x + 1
        with tf.control_dependencies([a]):
            b = x * 2
            return b * 3

    def cleared(x):
        p = tf.print(x)
        with tf.control_dependencies([p]):
            with tf.control_dependencies(None):
                z = x * 5
            b = x * 2
            with tf.control_dependencies([z]):
                c = tf.identity(b)
                d = x - 1
        return b + c + d

    def around_cond(x):
        a = x + 1
        with tf.control_dependencies([a]):
            return tf.cond(x > 0, lambda: x * 2, lambda: x * 3)

    def inside_cond(x):
        a = x + 1

        def true():
            with tf.control_dependencies([a]):
                return x * 2

        return tf.cond(x > 0, true, lambda: x * 3)

    def inside_loop(x):
        a = x + 1

        def body(i):
            with tf.control_dependencies([a]):
                return [i * 2]

        return tf.while_loop(lambda i: i < 10, body, [x])

    def after_assert(x):
        with tf.control_dependencies([tf.debugging.Assert(x > 0, [x])]):
            return x * 2

    def pairs(p, q, x, **options):
        return tf.case([(p, lambda: x + 1), (q, lambda: x * 2)], **options)

    check = tf.debugging
    return {
        "nested cond": (
            lambda p, x: tf.cond(p, lambda: tf.cond(x > 0, lambda: x, lambda: -x), lambda: x),
            [flag, scalar],
        ),
        "case": (lambda p, q, x: pairs(p, q, x, default=lambda: x), [flag, flag, scalar]),
        "case without default": (pairs, [flag, flag, scalar]),
        "exclusive case": (
            lambda p, q, x: pairs(p, q, x, exclusive=True, name="mine"),
            [flag, flag, scalar],
        ),
        "switch_case of three": (
            lambda i, x: tf.switch_case(
                i, {1: lambda: x + 1, 0: lambda: x * 2}, default=lambda: x, name="sw"
            ),
            [integer, scalar],
        ),
        "switch_case of operations": (
            lambda i: tf.switch_case(i, [tf.no_op, tf.no_op]),
            [integer],
        ),
        "control dependencies": (dependent, [scalar]),
        "cleared control dependencies": (cleared, [scalar]),
        "control dependencies around a branch": (around_cond, [scalar]),
        "control dependencies inside a branch": (inside_cond, [scalar]),
        "control dependencies inside a loop": (inside_loop, [scalar]),
        "dependence on an assertion": (after_assert, [scalar]),
        "group": (lambda x: after(tf.group([x + 1, {"a": x * 2}], name="gg"), x), [scalar]),
        "empty group": (lambda x: after(tf.group(), x), [scalar]),
        "no_op": (lambda x: after(tf.no_op(name="nothing"), x), [scalar]),
        "tuple": (lambda x: tf.tuple([x + 1, x * 2], [tf.print(x)], name="tt"), [scalar]),
        "identity_n": (lambda x: tf.identity_n([x, x * 2], name="q"), [scalar]),
        "Assert of floats": (lambda x: after(tf.Assert(x > 0, [x]), x), [scalar]),
        "Assert of texts": (
            lambda x: after(check.Assert(x > 0, ["a", tf.constant(3)], 5, name="zz"), x),
            [scalar],
        ),
        "check_numerics": (lambda x: check.check_numerics(x, "m"), [scalar]),
        "assert_all_finite": (lambda x: check.assert_all_finite(x, "m"), [scalar]),
        "assert_equal": (lambda x: after(check.assert_equal(x, 1.0), x), [vector]),
        "assert_equal of one": (lambda x: after(check.assert_equal(x, x), x), [vector]),
        "assert_less of ints": (
            lambda x: after(check.assert_less(x, 5, message="MM"), x),
            [tf.TensorSpec([2], tf.int32)],
        ),
        "assert_positive": (lambda x: after(check.assert_positive(x), x), [vector]),
        "assert_non_positive": (
            lambda x: after(check.assert_non_positive(x, "MM"), x),
            [vector],
        ),
        "assert_near": (lambda x: after(check.assert_near(x, x * 2), x), [vector]),
        "assert_rank": (lambda x: after(check.assert_rank(x, 2), x), [unknown]),
        "assert_rank known": (lambda x: after(check.assert_rank(x, 1), x), [vector]),
        "assert_rank_at_least": (
            lambda x: after(check.assert_rank_at_least(x, 2), x),
            [unknown],
        ),
        "assert_rank_in": (lambda x: after(check.assert_rank_in(x, [2, 1]), x), [unknown]),
        "assert_shapes": (
            lambda x, y: after(check.assert_shapes([(x, ("N", "D")), (y, ("N",))]), x),
            [named, vector],
        ),
        "assert_type": (lambda x: after(check.assert_type(x, tf.float32), x), [vector]),
        "assert_integer": (lambda x: after(check.assert_integer(x), x), [integer]),
        "map_fn": (lambda x: tf.map_fn(lambda r: r * 2, x), [three]),
        "map_fn over unknown rows": (lambda x: tf.map_fn(tf.reduce_sum, x), [rows]),
        "map_fn of two": (
            lambda x: tf.map_fn(
                lambda r: (r, tf.cast(r, tf.int32)),
                x,
                fn_output_signature=(tf.float32, tf.int32),
                name="mm",
                parallel_iterations=3,
            ),
            [three],
        ),
        "foldl": (lambda x: tf.foldl(lambda a, r: a + r, x), [three]),
        "foldl from a number": (
            lambda x: tf.foldl(lambda a, r: a + tf.reduce_sum(r), x, initializer=1.0),
            [rows],
        ),
        "foldr": (lambda x: tf.foldr(lambda a, r: a - r, x), [three]),
        "foldr from a number": (
            lambda x: tf.foldr(lambda a, r: a - tf.reduce_sum(r), x, initializer=1.0),
            [rows],
        ),
        "scan": (lambda x: tf.scan(lambda a, r: a + r, x), [three]),
        "reverse scan from a number": (
            lambda x: tf.scan(lambda a, r: a + tf.reduce_sum(r), x, initializer=1.0, reverse=True),
            [rows],
        ),
    }


def value_programs(tf: Any) -> dict[str, Callable[[], Any]]:
    """Programs to run: what they return or raise."""
    check = tf.debugging
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    line = tf.constant([1, 2, 3])
    ones = tf.ones

    def gradient(function: Any, argument: Any, compiled: bool = True) -> Any:
        function = tf.function(function, autograph=False) if compiled else function
        with tf.GradientTape() as tape:
            tape.watch(argument)
            result = function(argument)
        return tape.gradient(result, argument)

    def tangent(function: Any, argument: Any) -> Any:
        function = tf.function(function, autograph=False)
        with tf.autodiff.ForwardAccumulator(argument, tf.ones_like(argument)) as accumulator:
            result = function(argument)
        return accumulator.jvp(result)

    def call(function: Any, *arguments: Any) -> Any:
        return tf.function(function, autograph=False)(*arguments)

    def guarded(value: Any) -> Any:
        check.assert_equal(value, 1.0, message="boom")
        return value

    def waits(value: Any, i: Any) -> Any:
        with tf.control_dependencies([tf.gather(value, i)]):
            return tf.identity(value)

    programs = {
        "group": lambda: tf.group(1, 2),
        "tuple": lambda: tf.tuple([tf.constant(1), 2]),
        "no_op": lambda: tf.no_op(),
        "identity_n": lambda: tf.identity_n([tf.constant(1), 2.0]),
        "identity_n of a vector": lambda: tf.identity_n(tf.constant([1, 2])),
        "returned operation": lambda: call(lambda v: tf.group(tf.print(v)), x),
        "group of an int in a graph": lambda: call(lambda v: tf.group(3), x),
        "tuple of None": lambda: call(lambda v: tf.tuple([None]), x),
        "dependence on None": lambda: call(
            lambda v: tf.control_dependencies([None]).__enter__(), x
        ),
        "dependence on an int": lambda: call(lambda v: tf.control_dependencies(3).__enter__(), x),
        "unused pure dependence": lambda: call(waits, tf.constant([1.0, 2.0]), tf.constant(7)),
        "Assert": lambda: check.Assert(True, ["a"]),
        "Assert false": lambda: check.Assert(tf.constant(False), ["a", [1, 2, 3, 4, 5]], 2),
        "Assert vector": lambda: check.Assert(tf.constant([True, False]), ["a"]),
        "Assert in a graph": lambda: call(lambda v: tf.Assert(v > 1.0, [v]), tf.constant(0.0)),
        "assertion in a graph": lambda: call(guarded, tf.constant([1.0, 1.0])),
        "failing assertion in a graph": lambda: call(guarded, tf.constant([1.0, 2.0])),
        "static assertion": lambda: call(lambda v: check.assert_equal(1, 2), x),
        "static rank": lambda: call(lambda v: check.assert_rank(v, 1), x),
        "check_numerics": lambda: check.check_numerics(x, "m"),
        "check_numerics nan": lambda: check.check_numerics([1.0, NAN], "m"),
        "check_numerics inf": lambda: check.check_numerics([1.0, INF], "m"),
        "check_numerics both": lambda: check.check_numerics([-INF, NAN], "m"),
        "check_numerics half": lambda: check.check_numerics(
            tf.constant([1.0, NAN], tf.float16), "m"
        ),
        "check_numerics bfloat16": lambda: check.check_numerics(
            tf.constant([1.0, INF], tf.bfloat16), "m"
        ),
        "check_numerics unused": lambda: call(
            lambda v: (check.check_numerics(v, "m"), v)[1], tf.constant(NAN)
        ),
        "check_numerics of ints": lambda: check.check_numerics(tf.constant([1]), "m"),
        "gradient of check_numerics": lambda: gradient(
            lambda v: check.check_numerics(v * v, "m"), x
        ),
        "assert_all_finite": lambda: check.assert_all_finite([1.0, 2.0], "m"),
        "assert_all_finite nan": lambda: check.assert_all_finite([1.0, NAN], "m"),
        "equal": lambda: check.assert_equal([1, 2], [1, 2]),
        "equal not": lambda: check.assert_equal([1, 2], [1, 3]),
        "equal scalar": lambda: check.assert_equal([1, 2], 1, message="MM", summarize=1),
        "equal all": lambda: check.assert_equal(1, 2, summarize=-1),
        "equal shapes": lambda: check.assert_equal([1, 2], [1, 2, 3]),
        "none_equal": lambda: check.assert_none_equal([1, 2], [3, 2]),
        "less": lambda: check.assert_less([[1.0, 2.0], [5.0, 6.0]], [[2.0, 3.0], [1.0, 9.0]]),
        "less_equal": lambda: check.assert_less_equal([1, 2], [1, 1]),
        "greater": lambda: check.assert_greater([1, 2], [1, 1]),
        "greater_equal": lambda: check.assert_greater_equal([1, 2], [1, 1]),
        "positive": lambda: check.assert_positive([1.0, -2.0]),
        "positive message": lambda: check.assert_positive([1.0, -2.0], message="hey"),
        "negative": lambda: check.assert_negative([1.0, -2.0]),
        "non_negative": lambda: check.assert_non_negative([1, -2]),
        "non_positive": lambda: check.assert_non_positive([1, -2], name="q"),
        "near": lambda: check.assert_near([1.0, 2.0], [1.0, 2.1]),
        "near tolerance": lambda: check.assert_near([1.0, 2.0], [1.0, 2.1], atol=0.2),
        "near ints": lambda: check.assert_near([1, 2], [1, 2]),
        "rank": lambda: check.assert_rank([1.0, 2.0], 2),
        "rank holds": lambda: check.assert_rank([1.0, 2.0], 1),
        "rank vector": lambda: check.assert_rank([1.0, 2.0], [1]),
        "rank float": lambda: check.assert_rank([1.0, 2.0], 1.5),
        "rank_at_least": lambda: check.assert_rank_at_least([1.0, 2.0], 2, message="oh"),
        "rank_in": lambda: check.assert_rank_in([1.0, 2.0], [2, 3]),
        "rank_in holds": lambda: check.assert_rank_in([1.0, 2.0], [2, 1]),
        "type": lambda: check.assert_type(1, tf.float32),
        "integer": lambda: check.assert_integer(1.5),
        "scalar": lambda: check.assert_scalar([1]),
        "iterable text": lambda: check.assert_proper_iterable("abc"),
        "iterable int": lambda: check.assert_proper_iterable(3),
        "iterable": lambda: check.assert_proper_iterable([3]),
        "float dtype": lambda: check.assert_same_float_dtype([tf.constant(1.0)]) == tf.float32,
        "float dtype none": lambda: check.assert_same_float_dtype() == tf.float32,
        "float dtypes": lambda: check.assert_same_float_dtype(
            [tf.constant(1.0), tf.constant(1.0, tf.float64)]
        ),
        "int dtype": lambda: check.assert_same_float_dtype([tf.constant(1)]),
        "shapes": lambda: check.assert_shapes([(ones([2, 3]), ("N", "D")), (ones([3]), ("D",))]),
        "shapes differ": lambda: check.assert_shapes(
            [(ones([2, 3]), ("N", "D")), (ones([4]), ("D",))]
        ),
        "shapes explicit": lambda: check.assert_shapes([(ones([2, 3]), (2, 4))]),
        "shapes rank": lambda: check.assert_shapes([(ones([2, 3]), ("N",))]),
        "shapes star": lambda: check.assert_shapes(
            [(ones([2, 3]), ("*", "D")), (ones([3]), ("D",))]
        ),
        "shapes ellipsis": lambda: check.assert_shapes([(ones([2, 3]), ("N", "*"))]),
        "shapes int": lambda: check.assert_shapes([(ones([2, 3]), 3)]),
        "shapes in a graph": lambda: call(
            lambda v, w: (check.assert_shapes([(v, ("N", "D")), (w, ("N",))]), v)[1],
            x,
            tf.constant([1.0]),
        ),
        "is_numeric_tensor": lambda: [
            check.is_numeric_tensor(v) for v in (tf.constant(1), tf.constant("a"), 1)
        ],
        "map_fn": lambda: tf.map_fn(lambda r: r * 2, x),
        "map_fn sum": lambda: tf.map_fn(tf.reduce_sum, x),
        "map_fn dtype": lambda: tf.map_fn(lambda r: tf.cast(r, tf.int32), x, dtype=tf.int32),
        "map_fn dict": lambda: tf.map_fn(
            lambda r: {"a": r["x"] + 1, "b": r["y"]},
            {"x": x, "y": line},
            fn_output_signature={"a": tf.float32, "b": tf.int32},
        ),
        "map_fn wrong dtype": lambda: tf.map_fn(lambda r: tf.cast(r, tf.int32), x),
        "map_fn wrong structure": lambda: tf.map_fn(lambda r: (r, r), x),
        "map_fn nothing": lambda: tf.map_fn(lambda r: r, []),
        "map_fn scalar": lambda: tf.map_fn(lambda r: r, 3.0),
        "map_fn no rows": lambda: tf.map_fn(lambda r: r, tf.zeros([0, 2])),
        "map_fn rows differ": lambda: tf.map_fn(lambda r: r[0], (line, tf.constant([1, 2]))),
        "map_fn spec": lambda: tf.map_fn(
            lambda r: r, x, fn_output_signature=tf.TensorSpec([3], tf.float32)
        ),
        "map_fn varying": lambda: tf.map_fn(
            lambda n: tf.ones([n]), line, fn_output_signature=tf.float32
        ),
        "map_fn in a graph": lambda: call(lambda v: tf.map_fn(lambda r: r * 2, v), x),
        "map_fn pair in a graph": lambda: call(
            lambda v: tf.map_fn(lambda r: (r[0] + 1, r[1]), (v, line)), x
        ),
        "map_fn wrong dtype in a graph": lambda: call(
            lambda v: tf.map_fn(lambda r: tf.cast(r, tf.int32), v), x
        ),
        "map_fn no rows in a graph": lambda: call(
            lambda v: tf.map_fn(tf.reduce_sum, v), tf.zeros([0, 2])
        ),
        "foldl": lambda: tf.foldl(lambda a, r: a + r, x),
        "foldl from": lambda: tf.foldl(lambda a, r: a * 2 + r, line, initializer=10),
        "foldl pair": lambda: tf.foldl(
            lambda a, r: (a[0] + r[0], a[1] * r[1]), (line, tf.constant([4, 5, 6]))
        ),
        "foldr": lambda: tf.foldr(lambda a, r: a * 2 + r, line),
        "foldr from": lambda: tf.foldr(lambda a, r: a * 2 + r, line, initializer=10),
        "foldl scalar": lambda: tf.foldl(lambda a, r: a, 3),
        "foldl structure": lambda: tf.foldl(lambda a, r: (a, r), line),
        "scan": lambda: tf.scan(lambda a, r: a + r, line),
        "scan reverse": lambda: tf.scan(lambda a, r: a + r, line, reverse=True),
        "scan from": lambda: tf.scan(lambda a, r: a + r, line, initializer=10),
        "scan pair": lambda: tf.scan(
            lambda a, r: (a[1], a[0] + a[1]), tf.zeros([6]), initializer=(0.0, 1.0)
        ),
        "scan structure": lambda: tf.scan(lambda a, r: (a, r), line),
        "scan no rows": lambda: tf.scan(lambda a, r: a + r, tf.zeros([0]), initializer=1.0),
        "scan in a graph": lambda: call(lambda v: tf.scan(lambda a, r: a + r, v, reverse=True), x),
    }
    cube = tf.reshape(tf.range(24.0), [2, 3, 4])
    matrix = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    mapped: dict[str, tuple[Any, Any]] = {
        "arithmetic": (lambda r: r * 2 + tf.reduce_sum(r), x),
        "broadcasting": (lambda r: r + tf.constant([[1.0], [2.0]]), x),
        "scalars": (lambda r: r * tf.constant([1, 2]), line),
        "pair": (lambda r: (r[0] * tf.cast(r[1], tf.float32), r[1]), (x, line)),
        "dict": (
            lambda r: {"a": r["x"] + 1, "b": tf.cast(r["y"], tf.float32)},
            {"x": x, "y": line},
        ),
        "constant result": (lambda r: tf.constant(7), line),
        "matmul": (lambda r: tf.matmul(r, r, transpose_b=True), cube),
        "matmul shared": (lambda r: tf.matmul(tf.expand_dims(r, 0), matrix), x),
        "matvec": (lambda r: tf.linalg.matvec(matrix, r), x),
        "shapes": (lambda r: tf.transpose(tf.reshape(r, [2, 6])), cube),
        "slices": (lambda r: r[1:, ::2] + r[0, 1], cube),
        "newaxis": (lambda r: r[:, tf.newaxis] * r, x),
        "gather": (lambda i: tf.gather(x, i), tf.constant([2, 0, 1])),
        "gather of rows": (lambda r: tf.gather(r, [1, 0], axis=1), cube),
        "gather both": (lambda r: tf.gather(r[0], r[1]), (x, tf.constant([1, 0, 1]))),
        "concat": (lambda r: tf.concat([r, r * 2, tf.ones([1])], 0), x),
        "stack": (lambda r: tf.stack([r, r + 1], axis=-1), x),
        "unstack": (lambda r: tf.unstack(r)[1], x),
        "split": (lambda r: tf.split(r, 2, axis=1)[1], cube),
        "reductions": (
            lambda r: tf.reduce_max(r, axis=-1) - tf.reduce_mean(r, axis=[0], keepdims=True)[0, :3],
            cube,
        ),
        "argmax": (lambda r: tf.argmax(r, axis=0), cube),
        "softmax": (lambda r: tf.nn.softmax(r), cube),
        "where": (lambda r: tf.where(r > 2.0, r, 0.0), x),
        "tile and pad": (lambda r: tf.pad(tf.tile(r, [2]), [[1, 0]]), x),
        "one_hot": (lambda i: tf.one_hot(i, 3), tf.constant([2, 0])),
        "reverse": (lambda r: tf.reverse(r, [0]), cube),
        "fill": (lambda r: tf.fill([2], r), line),
        "shape": (lambda r: r * tf.cast(tf.shape(r)[1], tf.float32), cube),
        "one row": (lambda r: r[0] + r[1], (x, tf.constant([[10.0, 20.0]]))),
        "loop inside": (
            lambda r: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), (0, r))[1],
            x,
        ),
    }
    for name, (function, argument) in mapped.items():
        programs[f"vectorized_map of {name}"] = lambda f=function, a=argument: tf.vectorized_map(
            f, a, warn=False
        )
        if name != "loop inside":
            programs[f"vectorized_map of {name} in a graph"] = lambda f=function, a=argument: call(
                lambda v: tf.vectorized_map(f, v), a
            )
    programs["gradient of vectorized_map"] = lambda: gradient(
        lambda v: tf.vectorized_map(lambda r: tf.reduce_sum(r * r), v), x
    )
    programs["tangent of vectorized_map"] = lambda: tangent(
        lambda v: tf.vectorized_map(lambda r: tf.reduce_sum(r * r), v), x
    )
    functions = {
        "map_fn": lambda v: tf.map_fn(lambda r: r * r, v),
        "scan": lambda v: tf.scan(lambda a, r: a * r, v),
        "reverse scan": lambda v: tf.scan(lambda a, r: a * r, v, reverse=True),
        "foldl": lambda v: tf.foldl(lambda a, r: a * r, v),
        "foldr": lambda v: tf.foldr(lambda a, r: a * r + a, v, initializer=tf.ones([2])),
    }
    for name, function in functions.items():
        programs[f"gradient of {name}"] = lambda f=function: gradient(f, x)
        programs[f"gradient of {name}, eager"] = lambda f=function: gradient(f, x, False)
        programs[f"tangent of {name}"] = lambda f=function: tangent(f, x)
    return programs


def _plain(tf: Any, value: Any) -> Any:
    """A value as JSON holds it."""
    if tf.is_tensor(value):
        return {"dtype": value.dtype.name, "value": value.numpy().tolist()}
    if isinstance(value, (list, tuple)):
        return [_plain(tf, item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(tf, item) for key, item in value.items()}
    return value


def _line(node: Any) -> str:
    return re.sub(r"_cond_\d+___", "_cond_0___", f"{node.op} {node.name} {' '.join(node.input)}")


def graph_lists(tf: Any, function: Any, specs: list[Any]) -> list[list[str]]:
    """The nodes of the graph, and of the functions of its library by name."""
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    graph = concrete.graph.as_graph_def()
    lists = [[_line(node) for node in graph.node]]
    for inner in sorted(graph.library.function, key=lambda f: f.signature.name):
        lists.append([_line(node) for node in inner.node_def])
    return lists


def outcome(tf: Any, program: Callable[[], Any]) -> dict[str, Any]:
    """What the program returns, or the class and text of what it raises."""
    try:
        return {"value": _plain(tf, program())}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


def record(tf: Any) -> dict[str, Any]:
    """Everything. Of errors only the class: their texts are each package's own."""
    values = {name: outcome(tf, program) for name, program in value_programs(tf).items()}
    for value in values.values():
        value.pop("text", None)
    return {
        "graphs": {n: graph_lists(tf, f, specs) for n, (f, specs) in graph_programs(tf).items()},
        "values": values,
    }


if __name__ == "__main__":
    json.dump(record(importlib.import_module(sys.argv[1])), sys.stdout, indent=1, sort_keys=True)
    print()
