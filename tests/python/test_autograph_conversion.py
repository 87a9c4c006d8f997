"""Converted functions do on Python values what the functions themselves do."""

import copy
import functools
import inspect
import linecache
import sys
import traceback
import warnings

import autograph_corpus
import autograph_programs_more
import pytest

import graphwright as tf
from graphwright import _core, autograph

PROGRAMS = autograph_corpus.programs(tf)


class Record:
    """An object with any attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    def __repr__(self):
        return f"Record({self.__dict__})"


class Manager:
    def __eq__(self, other):
        return isinstance(other, Manager)

    def __enter__(self):
        return 7

    def __exit__(self, *exception):
        return False

    def __call__(self, x):
        return x

    def scope(self, x):
        return self


def double(x, *args, **kwargs):
    return x * 2


def convert_and_compare(function, *arguments):
    """Calls the function and its conversion on equal arguments; results, effects, errors agree."""
    outcomes = []
    for candidate in (function, autograph.to_graph(function)):
        inputs = copy.deepcopy(arguments)
        try:
            result = candidate(*inputs)
            if callable(result):
                result = "a function"
            outcomes.append((result, inputs))
        except Exception as error:
            outcomes.append((type(error), str(error), inputs))
    if outcomes[0][0] is UnboundLocalError:  # a name in a cell: NameError, the base class
        assert issubclass(outcomes[0][0], outcomes[1][0])
    else:
        assert outcomes[0] == outcomes[1]


CALLS = [
    ("straight", 1),
    ("docstring", 1),
    ("defaults", 1),
    ("annotated", 1),
    ("while_two_vars", 5),
    ("while_nested", 4),
    ("while_undefined", 3),
    ("while_undefined", 0),
    ("while_local", 9),
    ("while_true_break", 1),
    ("while_complex_condition", 4, 0),
    ("if_simple", -1),
    ("if_simple", 1),
    ("if_no_else", 3),
    ("if_elif", 1.5),
    ("if_elif", -1),
    ("if_undefined", 1),
    ("if_undefined", -1),
    ("if_nested", 1, 0),
    ("if_nested", 0, 0),
    ("if_in_while", 7),
    ("if_pass", 0),
    ("for_range", 5),
    ("for_tuple_target", [(1, (2, 3, 4)), (5, (6,))]),
    ("for_loop_var_used_after", 3),
    ("for_loop_var_used_after", 0),
    ("for_nested", 4),
    ("for_attribute_target", Record(), [1, 2]),
    ("for_subscript_target", {}, [1, 2]),
    ("for_enumerate", "ab"),
    ("break_for", [1, 2, 7, 9]),
    ("break_while", 9),
    ("continue_for", [1, -1, 3]),
    ("continue_while", 12),
    ("break_and_continue", [1, -5, 3, 200, 7]),
    ("nested_breaks", [1, 2, 3, 4], [1, 2, 3, 4, 5]),
    ("break_in_with", [0, 0, 1, 0], Manager()),
    ("break_in_try", [0, 0, 1, 0]),
    ("return_early", 1),
    ("return_early", -1),
    ("return_early_else", -3),
    ("return_middle", -1),
    ("return_middle", -5),
    ("return_in_else", 0),
    ("return_nested", 1, 1),
    ("return_nested", 1, 0),
    ("return_nested", 0, 0),
    ("return_in_while", 9),
    ("return_in_while", 3),
    ("return_in_for", [1, 2, 8, 9]),
    ("return_in_for", [1]),
    ("return_in_for_and_break", [1, 2, -1, 9]),
    ("return_none", 0),
    ("return_in_with", Manager()),
    ("return_in_try", lambda: 3),
    ("return_twice", 5),
    ("return_sibling_loop", 0, [1, 2]),
    ("call_plain", double, 3),
    ("call_keywords", double, 3),
    ("call_star", double, 3, (4,), {"z": 1}),
    ("call_star_only", double, (4,), {"z": 1}),
    ("call_builtins", [3, -1, 2]),
    ("ternary", 1),
    ("ternary_nested", -2),
    ("ternary_call", double, 3),
    ("boolean", 1, 0, 3),
    ("comparison_chain", 1, 2, 3),
    ("comparison_call_chain", 3, double),
    ("arithmetic", 3.0, 2),
    ("parentheses", 2, 3),
    ("strings", 1),
    ("fstrings", {"k": 1}, 2),
    ("numbers",),
    ("tuple_assign", ((1, 2), 3)),
    ("comprehension_list", [1, -2, 3]),
    ("comprehension_nested", [[1, 2], [3]]),
    ("comprehension_dict_set", [1, 2]),
    ("comprehension_in_loop", [1, 2], 3),
    ("lambda_simple", 3),
    ("lambda_calls", double, [1, 0]),
    ("lambda_reads_loop_var", 9),
    ("nested_function", 3),
    ("nested_function_loop", 6),
    ("nested_function_closure", 5),
    ("nested_decorated", 4),
    ("nested_function_in_if", 0),
    ("nested_function_reads_state", 3),
    ("nested_two_deep", 0),
    ("nested_class", 3),
    ("composite_attribute", Record(x=1), 3),
    ("composite_subscript", {0: 1, 1: 1, 2: 5}, 3),
    ("composite_if", Record(b=Record()), True),
    ("composite_local", 0, lambda: Record()),
    ("self_attribute", Record(count=1, items=[0]), 5),
    ("clashing_names", 1, 2, 1),
    ("clashing_itr", [1, 2], 3),
    ("delete_name", 1),
    ("delete_mixed", 1, {"k": 1}),
    ("delete_in_if", 1, 2),
    ("try_except", lambda: int("x")),
    ("try_with_control", None, 3),
    ("raise_plain", -1),
    ("with_control", Manager(), 0),
    ("assert_statement", 0),
    ("starred", [1, 2, 3]),
    ("conditional_with_side_effects", 1, []),
    ("loop_with_everything", [1, None, 3, 40, 50, 2], 5),
    ("state_order", 1, 0, 2),
    ("live_only_inside", 3),
    ("if_input_only", 1, 2),
    ("loop_in_if", 0, 4),
    ("dead_code", 1),
    ("recursive", 3),
    ("collatz", 7),
    ("gcd", 12, 18),
    ("matrix", 3),
    ("multiple_targets_loop", 9),
    ("match_statement", [1, 2, 3]),
    ("match_statement", {"k": 1, "z": 2}),
    ("match_in_loop", [0, 1, 2]),
    ("conditional_delete", [1, 2, 3, 4, 5, 6], True),
    ("nonlocal_in_loop", 4),
    ("lambda_one", -3),
    ("lambda_call", 3),
    ("lambda_default",),
    ("returns_in_with_and_if", Manager(), 0),
    ("return_tuple_in_loops", [[0, 0], [0, 5]]),
    ("star_args_everywhere", lambda *a, **k: (a, k), 4),
    ("nested_try", iter([1, 2, 0]).__next__),
    ("raise_in_try", 1),
    ("finally_return", lambda: 1),
    ("long_boolean", 1, 0, 3, 0),
    ("yield_like_names", 0),
    ("uses_after_loop_only", 3),
    ("set_in_both_loops", 3),
    ("while_else_if_mix", 5, 2),
    ("unicode_names", 3),
    ("closure_function", 1),
]


@pytest.mark.parametrize(
    "call", [c for c in CALLS if c[0] != "nested_try"], ids=lambda c: f"{c[0]}-{len(c)}"
)
def test_python_values(call, capsys):
    convert_and_compare(PROGRAMS[call[0]], *call[1:])


def test_printed_text_is_the_same(capsys):
    PROGRAMS["nested_breaks"]([1, 2, 3], [1, 2, 3, 4])
    expected = capsys.readouterr().out
    autograph.to_graph(PROGRAMS["nested_breaks"])([1, 2, 3], [1, 2, 3, 4])
    assert capsys.readouterr().out == expected


def test_globals_are_written():
    autograph_programs_more.SCALE = 9
    assert autograph.to_graph(PROGRAMS["global_write"])(8) == 3
    assert autograph_programs_more.SCALE == 3
    autograph.to_graph(PROGRAMS["global_in_loop"])(3)
    assert autograph_programs_more.COUNTER == 2


def test_signature_defaults_and_cells_are_kept():
    captured = [1]
    count = 0

    def f(a, b=captured, *, c=5):
        nonlocal count
        count += a
        return b, c

    converted = autograph.to_graph(f)
    assert inspect.signature(converted).parameters.keys() == inspect.signature(f).parameters.keys()
    assert converted(2)[0] is captured
    assert converted(3, c=1) == (captured, 1)
    assert count == 5
    assert converted.__globals__ is f.__globals__


def test_methods_and_super():
    class Base:
        def value(self, x):
            return x + 1

    class Derived(Base):
        def value(self, x):
            if x > 0:
                x = super().value(x)
            return super().value(x), self.other(x)

        def other(self, x):
            total = 0
            for i in range(x):
                total += i
            return total

    converted = autograph.to_graph(Derived().value)
    assert converted(Derived(), 3) == Derived().value(3)
    assert converted(Derived(), -3) == Derived().value(-3)


def test_functions_called_are_converted_too():
    seen = []

    def inner(x):
        seen.append(_core.autograph_is_converted(sys._getframe().f_code))
        return x

    def outer(x):
        return functools.partial(inner, x)()

    assert autograph.to_graph(outer)(1) == 1
    assert outer(1) == 1
    assert autograph.to_graph(outer, recursive=False)(1) == 1
    assert seen == [True, False, False]


def test_callable_objects_and_bound_methods():
    seen = []

    class Layer:
        def __call__(self, x, scale=1):
            seen.append(_core.autograph_is_converted(sys._getframe().f_code))
            return x * scale

        def method(self, x):
            seen.append(_core.autograph_is_converted(sys._getframe().f_code))
            return x

    layer = Layer()

    def f(x):
        return layer(x, scale=3), layer.method(x)

    assert autograph.to_graph(f)(2) == (6, 2)
    assert seen == [True, True]


def test_do_not_convert():
    seen = []

    def inner():
        seen.append(_core.autograph_is_converted(sys._getframe().f_code))

    @autograph.experimental.do_not_convert
    def plain():
        inner()
        return 4

    def f():
        inner()
        return plain()

    assert autograph.to_graph(f)() == 4
    assert seen == [True, False]


def test_generators_and_coroutines_inside_stay_as_they_are():
    def f(n):
        def count():
            for i in range(n):
                if i % 2:
                    yield i

        async def later():
            if n:
                return n

        return list(count()), later().send

    values, send = autograph.to_graph(f)(6)
    assert values == [1, 3, 5]
    with pytest.raises(StopIteration, match="6"):
        send(None)


def test_what_cannot_be_converted_runs_with_a_warning():
    def inner(xs):
        for x in xs:
            if x:
                break
        else:
            return "none"
        return "some"

    def f(xs):
        return inner(xs)

    with pytest.warns(UserWarning, match=r"for/else statement not yet supported \(line \d+\)"):
        assert autograph.to_graph(f)([0, 0]) == "none"


def test_tracebacks_show_the_users_lines():
    def fails(x):
        i = 0
        while i < 3:
            if x:
                raise ValueError("here")
            i += 1

    try:
        autograph.to_graph(fails)(1)
    except ValueError as error:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == __file__
        ]
    first = fails.__code__.co_firstlineno
    assert [frame.lineno - first for frame in frames[1:]] == [2, 3, 4]
    assert frames[-1].line == 'raise ValueError("here")'


def test_lambdas_on_one_line():
    pair = (lambda x: x + 1, lambda x: x - 1)
    assert [autograph.to_graph(f)(5) for f in pair] == [6, 4]
    assert "x - 1" in autograph.to_code(pair[1])
    nested = lambda x: (lambda y: y if y > 0 else -y)(x)  # fmt: skip
    assert autograph.to_graph(nested)(-2) == 2
    captured = 3
    multiline = lambda x, s="(,": (
        x + captured  # a comment, with a comma
    )
    assert autograph.to_graph(multiline)(2) == 5


def test_source_known_only_to_linecache():
    text = "def f(x):\n    while x < 5:\n        x += 1\n    return x\n"
    name = "<a notebook cell>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    assert autograph.to_graph(namespace["f"])(0) == 5
    assert "loop_body" in autograph.to_code(namespace["f"])


# fmt: off
def odd_layout(
    x,
    y=1,
):
        # deeper than usual
        text = """
first column
"""
        if (x
and y):
            return text
# a comment in the first column
        return (
x)
# fmt: on


def test_odd_layout():
    convert_and_compare(odd_layout, 1)
    convert_and_compare(odd_layout, 0)


def test_a_conversion_is_kept_and_goes_with_its_function():
    def make(n):
        def f():
            return n

        return f

    one, two = make(1), make(2)
    a, b = autograph.to_graph(one), autograph.to_graph(two)
    assert a.__code__ is b.__code__
    assert (a(), b()) == (1, 2)


def test_lambdas_that_call_into_imported_modules_are_found(tmp_path, monkeypatch):
    # Python compiles calls on a name that the module imports in another way than other calls.
    (tmp_path / "calling_lambdas.py").write_text(
        "import graphwright as tf\n"
        "from collections import OrderedDict as Table, namedtuple\n"
        "try:\n    import math\nexcept ImportError:\n    math = None\n"
        "class Own:\n    value = staticmethod(abs)\n"
        "functions = [\n"
        "    lambda x: tf.abs(x) if tf.reduce_sum(x) > 0 else x,\n"
        "    lambda x: x + len(Table.fromkeys([1])) if x > 0 else x,\n"
        "    lambda x: x * math.floor(2.5) if x > 0 else Own.value(x),\n"
        "]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import calling_lambdas

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [int(tf.function(f)(tf.constant(3))) for f in calling_lambdas.functions]
    assert results == [3, 4, 6]
