"""Strings, assertions, and what they print."""

from __future__ import annotations

import pytest

import graphwright as tf


def test_format():
    x = tf.constant([1.123456789, 1e-10, 1e20])
    text = tf.strings.format("{}, {}", (x, tf.range(10)), summarize=2).numpy()
    assert text == b"[1.12345684 1e-10 1e+20], [0 1 ... 8 9]"
    assert tf.strings.format("a {} b {}", (tf.constant([1.5, 2]), tf.constant("x"))).numpy() == (
        b'a [1.5 2] b "x"'
    )
    assert tf.strings.format("%s!", tf.constant(True), placeholder="%s").numpy() == b"1!"
    with pytest.raises(ValueError, match="expects 2 tensors"):
        tf.strings.format("{} {}", (1,))


def test_join_and_length():
    joined = tf.strings.join(["a", ["b", "c"]], separator="-")
    assert joined.numpy().tolist() == [b"a-b", b"a-c"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes do not match"):
        tf.strings.join([["a"], ["b", "c"]])
    assert tf.strings.length(["aé", "b"]).numpy().tolist() == [3, 1]
    assert tf.strings.length(["aé", "b"], unit="UTF8_CHAR").numpy().tolist() == [2, 1]
    assert (tf.constant("a") + tf.constant(["b", "c"])).numpy().tolist() == [b"ab", b"ac"]


@pytest.mark.parametrize(
    ("value", "options", "wanted"),
    [
        ([1.5, 2e10, 0.1], {}, [b"1.500000", b"20000000000.000000", b"0.100000"]),
        ([1.5, 2e10, 0.1], {"precision": 2}, [b"1.50", b"20000000000.00", b"0.10"]),
        ([1.5], {"scientific": True}, [b"1.500000e+00"]),
        ([2e10, 0.1], {"shortest": True}, [b"2e+10", b"0.1"]),
        ([1, 20], {"width": 5, "fill": "0"}, [b"00001", b"00020"]),
        ([True], {}, [b"true"]),
        ([1 + 2j], {}, [b"(1.000000,2.000000)"]),
        (["a"], {"width": 4}, [b"   a"]),
    ],
)
def test_as_string(value, options, wanted):
    assert tf.strings.as_string(tf.constant(value), **options).numpy().tolist() == wanted


def test_print_writes_to_the_streams(capfd):
    tf.raw_ops.PrintV2(input="to stderr", output_stream="stderr", end="!\n")
    tf.raw_ops.PrintV2(input="to stdout", output_stream="stdout", end="\n")
    captured = capfd.readouterr()
    assert captured.err == "to stderr!\n"
    assert captured.out == "to stdout\n"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.PrintV2(input="x", output_stream="nowhere")


def test_print_appends_to_a_file(tmp_path):
    path = tmp_path / "lines"
    for text in ("a", "b"):
        tf.raw_ops.PrintV2(input=text, output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"


def test_assertions():
    tf.debugging.Assert(True, [1])
    tf.debugging.assert_equal([1, 2], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.Assert(False, [tf.constant([1, 2, 3, 4, 5, 6, 7]), "abc"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="hm"):
        tf.debugging.assert_less([1, 2], [2, 2], message="hm")

    @tf.function(autograph=False)
    def staged(x):
        tf.debugging.assert_greater(x, 3)
        return x

    assert staged(tf.constant(4)).numpy() == 4
    with pytest.raises(tf.errors.InvalidArgumentError):
        staged(tf.constant(1))
