"""The classes of errors for arguments of the wrong kind, dtype, rank or shape, as TensorFlow 2.21
raises them."""

import builtins
import json
from pathlib import Path

import pytest

import graphwright as tf

# Rows of an expression and the classes of its error, eagerly and staged; null where it has a value.
CLASSES = json.loads((Path(__file__).parent / "data" / "error_classes.json").read_text())


def error_class(name):
    return getattr(tf.errors, name, None) or getattr(builtins, name)


def check(evaluate, name):
    if name is None:
        evaluate()
    else:
        with pytest.raises(Exception) as raised:
            evaluate()
        assert type(raised.value) is error_class(name)


@pytest.mark.parametrize(("expression", "eager", "staged"), CLASSES)
def test_classes(expression, eager, staged):
    check(lambda: eval(expression), eager)
    check(lambda: tf.function(lambda: eval(expression), autograph=False)(), staged)
