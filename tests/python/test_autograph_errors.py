"""Errors while tracing name the user's lines; what TensorFlow 2.21 says is recorded here."""

import linecache
import sys
import traceback

import pytest

import graphwright as tf


def helper(x):
    if x is None:
        return 1
    raise KeyError("helper")


class OwnError(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


class PlainError(Exception):
    pass


def message_of(function, *arguments):
    """Class name and message of the error that the function raises, its file named FILE."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(*arguments)
    return type(caught.value).__name__, str(caught.value).replace(__file__, "FILE")


def place(function, line, mark="  *", name=None):
    """The two lines for a line of the function, counted from its `def`."""
    code = function.__code__ if hasattr(function, "__code__") else function.python_function.__code__
    number = code.co_firstlineno + line
    if linecache.getline(code.co_filename, code.co_firstlineno).lstrip().startswith("@"):
        number += 1
    text = linecache.getline(code.co_filename, number).strip()
    return f'    File "FILE", line {number}, in {name or code.co_name}{mark}\n        {text}\n'


def told(*places, cause):
    return "in user code:\n\n" + "".join(places) + f"\n    {cause}\n"


def test_in_a_loop_only_the_innermost_line_is_shown():
    @tf.function
    def f(n):
        i = 0
        while i < n:
            if i > 3:
                raise ValueError("here")
            i += 1
        return i

    assert message_of(f, tf.constant(3)) == (
        "ValueError",
        told(place(f, 4), cause="ValueError: here"),
    )


def test_every_converted_function_has_its_line():
    @tf.function
    def f(n):
        for i in tf.range(n):
            helper(i)

    assert message_of(f, tf.constant(3)) == (
        "KeyError",
        told(place(f, 2), place(helper, 3), cause="KeyError: 'helper'"),
    )


def test_what_is_not_converted_is_marked():
    unconverted = tf.autograph.experimental.do_not_convert(helper)

    @tf.function
    def f(n):
        return unconverted(n)

    assert message_of(f, tf.constant(3)) == (
        "KeyError",
        told(place(f, 1), place(helper, 3, "  **"), cause="KeyError: 'helper'"),
    )


def test_an_inner_function_belongs_to_the_one_around_it():
    @tf.function
    def f(n):
        def inner(k):
            raise TypeError("inner")

        return inner(n)

    assert message_of(f, tf.constant(3)) == (
        "TypeError",
        told(place(f, 2, name="inner"), cause="TypeError: inner"),
    )


def test_functions_in_functions():
    @tf.function
    def g(n):
        if n > 0:
            raise RuntimeError("g")

    @tf.function
    def f(n):
        return g(n)

    assert message_of(f, tf.constant(3)) == (
        "RuntimeError",
        told(place(f, 1), place(g, 2), cause="RuntimeError: g"),
    )


def test_classes_of_errors():
    @tf.function
    def own(n):
        raise OwnError(1, 2)

    @tf.function
    def plain(n):
        raise PlainError("plain")

    assert message_of(own, tf.constant(1)) == (
        "StagingError",
        told(place(own, 1), cause="OwnError: (1, 2)"),
    )
    assert message_of(plain, tf.constant(1)) == (
        "PlainError",
        told(place(plain, 1), cause="PlainError: plain"),
    )


def test_without_autograph_errors_are_left_alone():
    @tf.function(autograph=False)
    def f(n):
        return helper(n)

    assert message_of(f, tf.constant(3)) == ("KeyError", "'helper'")


def test_the_traceback_starts_where_the_function_was_called():
    @tf.function
    def f(n):
        raise ValueError("x")

    try:
        f(tf.constant(1))
    except ValueError as error:
        frames = traceback.extract_tb(error.__traceback__)
    assert [frame.name for frame in frames] == [sys._getframe().f_code.co_name]


@tf.function
def undefined(n):
    if n > 0:
        y = 1
    return y


@tf.function
def different_dtypes(n):
    if n > 0:
        y = 1
    else:
        y = 0.5
    return y


@tf.function
def none_in_a_branch(n):
    if n > 0:
        y = 1
    else:
        y = None
    return y


@tf.function
def int_condition(n):
    if n:
        return 1
    return 2


@tf.function
def none_in_a_loop(n):
    x = 1
    while n > 0:
        x = None
        n -= 1
    return x


@tf.function
def number_changes_dtype(n):
    x = 0.0
    for i in tf.range(n):
        x = 1
    return x


RECORDED = [
    (undefined, 1, "ValueError: 'y' must also be initialized in the else branch"),
    (
        different_dtypes,
        1,
        "TypeError: 'y' has dtype int32 in the main branch, but dtype float32 in the else branch",
    ),
    (none_in_a_branch, 1, "ValueError: 'y' is None at the end of the else branch."),
    (
        int_condition,
        1,
        "ValueError: condition of if statement expected to be `tf.bool` scalar, got "
        'Tensor("n:0", shape=(), dtype=int32); to use as boolean Tensor, use `tf.cast`; '
        "to check for None, use `is not None`",
    ),
    (none_in_a_loop, 2, "ValueError: 'x' is None at the end of the iteration."),
    (
        number_changes_dtype,
        2,
        "TypeError: 'x' has dtype float32 before the loop, but dtype int32 after one iteration",
    ),
]


@pytest.mark.parametrize(("function", "line", "cause"), RECORDED, ids=lambda p: None)
def test_recorded(function, line, cause):
    expected = told(place(function, line), cause=cause)
    assert message_of(function, tf.constant(3)) == (cause.partition(":")[0], expected)


def test_structures_and_objects_are_named():
    @tf.function
    def structure(n):
        s = (1, 2)
        for i in tf.range(n):
            s = (s[0] + i,)
        return s

    @tf.function
    def unlike(n):
        if n > 0:
            s = {"a": 1}
        else:
            s = {"b": 1}
        return s

    @tf.function
    def changing_object(n):
        x = object
        for i in tf.range(n):
            x = len
        return x

    assert "'s' does not have the same nested structure" in message_of(structure, tf.constant(1))[1]
    assert "'s' must have the same nested structure" in message_of(unlike, tf.constant(1))[1]
    assert "'x' must be a tensor or a number" in message_of(changing_object, tf.constant(1))[1]


def test_a_path_without_return():
    @tf.function
    def f(n):
        if n > 0:
            return 1

    kind, message = message_of(f, tf.constant(1))
    assert kind == "ValueError"
    assert "the else branch must also have a return statement" in message


def test_a_loop_that_makes_a_variable_must_run():
    @tf.function
    def f(n):
        i = 0
        while i < n:
            last = i
            i += 1
        return last

    assert f(tf.constant(3)).numpy() == 2
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize last"
    ):
        f(tf.constant(0))
