"""dir() of public namespaces shows what they offer, no more; tracebacks are filtered."""

import importlib
import subprocess
import sys
import traceback

import pytest

import graphwright as tf
from graphwright import _core, _namespace

PATHS = sorted(
    {name.rpartition(".")[0] for name in (*_namespace.LAZY, *_core.public_functions())}
    | {name for name, target in _namespace.LAZY.items() if ":" not in target}
)


def module_of(path):
    return importlib.import_module(f"graphwright.{path}" if path else "graphwright")


@pytest.mark.parametrize("path", PATHS)
def test_every_name_shown_is_there_and_public(path):
    module = module_of(path)
    names = [name for name in dir(module) if name != "__version__"]
    assert names or path == ""
    for name in names:
        assert not name.startswith("_")
        assert hasattr(module, name), name
        # What a module imports for itself: future features, typing's names, Python's own modules.
        value = getattr(module, name)
        owner = getattr(value, "__name__", "") if hasattr(value, "__path__") else ""
        owner = owner or getattr(value, "__module__", None) or "graphwright"
        allowed = ("graphwright", "ml_dtypes", "builtins", "numpy")
        assert str(owner).split(".")[0] in allowed, (name, owner)


def test_dir_of_nest_is_tensorflows():
    assert dir(tf.nest) == [
        "assert_same_structure",
        "flatten",
        "is_nested",
        "map_structure",
        "pack_sequence_as",
    ]
    assert dir(tf.autograph) == ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
    assert dir(tf.autodiff) == ["ForwardAccumulator", "GradientTape"]


def test_package_shows_its_names_and_not_its_modules():
    names = dir(tf)
    for name in ("Tensor", "Variable", "function", "reduce_sum", "float32", "nest", "math"):
        assert name in names
    importlib.import_module("graphwright.gradients")
    for name in ("gradients", "_core", "Any", "tracebacks", "_lazy"):
        assert name not in dir(tf)


def test_star_import_brings_no_private_names():
    code = "from graphwright.nest import *; print(sorted(n for n in dir() if n[0] != '_'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(dir(tf.nest))


def own_frames(error):
    frames = traceback.extract_tb(error.__traceback__)
    return [frame.name for frame in frames if "/graphwright/gradients.py" in frame.filename]


def test_tracebacks_leave_out_the_packages_frames():
    """The three switches and their defaults are those of TensorFlow 2.21."""
    x = tf.constant(1.0)

    def failing():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
        tape.gradient(y, x)

    assert tf.debugging.is_traceback_filtering_enabled()
    with pytest.raises(RuntimeError) as filtered:
        failing()
    assert own_frames(filtered.value) == []
    assert tf.debugging.disable_traceback_filtering() is None
    try:
        assert not tf.debugging.is_traceback_filtering_enabled()
        with pytest.raises(RuntimeError) as shown:
            failing()
        assert own_frames(shown.value) == ["gradient"]
    finally:
        assert tf.debugging.enable_traceback_filtering() is None
    assert tf.debugging.is_traceback_filtering_enabled()
    assert "failing" in [f.name for f in traceback.extract_tb(filtered.value.__traceback__)]
