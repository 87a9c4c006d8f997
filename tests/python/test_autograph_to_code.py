"""`to_code` prints what TensorFlow 2.21 on Python 3.11 prints, on every Python."""

import autograph_corpus
import pytest

import graphwright as tf
from graphwright import autograph

PROGRAMS = autograph_corpus.programs(tf)
RECORDED = autograph_corpus.recorded()


def test_every_program_is_recorded():
    refused = {name for name in PROGRAMS if name.startswith("unsupported_")}
    assert set(PROGRAMS) - refused - autograph_corpus.OURS == set(RECORDED)
    assert len(RECORDED) >= 60


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_text_equals_the_recorded_one(name):
    text = autograph.to_code(PROGRAMS[name])
    assert autograph_corpus.normalised(text) == autograph_corpus.normalised(RECORDED[name])


@pytest.mark.parametrize(
    ("name", "construct"),
    [
        ("unsupported_for_else", "for/else"),
        ("unsupported_while_else", "while/else"),
        ("unsupported_generator", "generators"),
        ("unsupported_mangled", "mangled names .*__hidden"),
        ("walrus", "assignment expression"),
    ],
)
def test_what_cannot_be_converted_is_named_with_its_line(name, construct):
    first = PROGRAMS[name].__code__.co_firstlineno
    with pytest.raises(NotImplementedError, match=rf"{construct}.*\(line \d+\)") as error:
        autograph.to_code(PROGRAMS[name])
    line = int(str(error.value).split("(line ")[1].rstrip(")"))
    assert first < line < first + 6


def test_options_show():
    def f(x):
        return x

    text = autograph.to_code(f, recursive=False)
    assert "recursive=False, user_requested=True" in text
    features = (autograph.experimental.Feature.EQUALITY_OPERATORS,)
    text = autograph.to_code(lambda x: x == 1, experimental_optional_features=features)
    assert "ag__.eq(x, 1)" in text
    assert "optional_features=ag__.Feature.EQUALITY_OPERATORS" in text


def test_source_that_is_not_there():
    namespace = {}
    exec(compile("def f(x):\n  return x\n", "<nowhere>", "exec"), namespace)
    with pytest.raises(autograph.ConversionError, match=r"define the function in a \.py file"):
        autograph.to_code(namespace["f"])
