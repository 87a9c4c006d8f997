"""Type stubs are made from the tables: every public function has one, and they are valid Python."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

from graphwright import _core

GENERATOR = Path(__file__).parents[2] / "tools" / "generate_stubs"


def test_every_function_has_a_stub(tmp_path):
    subprocess.run([sys.executable, GENERATOR, tmp_path], check=True)
    defined = set()
    for file in tmp_path.rglob("*.pyi"):
        path = file.relative_to(tmp_path).with_suffix("")
        parts = path.parts[:-1] if path.name == "__init__" else path.parts
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                defined.add(".".join([*parts, node.name]))
    assert set(_core.public_functions()) <= defined
    assert {f"raw_ops.{name}" for name in _core.op_names()} <= defined
    assert (
        "def tanh(x: _Any, name: str | None = None) -> _Tensor:"
        in (tmp_path / "__init__.pyi").read_text()
    )


CONSUMER = """
import graphwright as tf

x = tf.constant([1.0, 2.0])
y = tf.reduce_sum(tf.nn.relu(x), axis=0)
tf.raw_ops.AddV2(x=x, y=x)
tf.Variable(1.0).assign_add(2.0)


@tf.function
def double(a: tf.Tensor) -> tf.Tensor:
    return tf.add(a, a)


with tf.GradientTape() as tape:
    tape.watch(x)
tf.debugging.assert_equal(x, x)
reveal_type(x)
tf.tanh()
"""


def test_type_checkers_use_the_stubs(tmp_path):
    """As installed: stubs beside the sources, with py.typed."""
    package = tmp_path / "site" / "graphwright"
    shutil.copytree(Path(_core.__file__).parent, package, ignore=shutil.ignore_patterns("*.so*"))
    subprocess.run([sys.executable, GENERATOR, package], check=True)
    assert (package / "py.typed").exists()
    (tmp_path / "consumer.py").write_text(CONSUMER)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", tmp_path / "cache"]
    environment = dict(os.environ, MYPYPATH=str(package.parent))
    done = subprocess.run(
        [*command, tmp_path / "consumer.py"], env=environment, capture_output=True, text=True
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(str(tmp_path / "con"))]
    # The type of x, and the one mistake.
    assert len(lines) == 2, done.stdout + done.stderr
    assert 'Revealed type is "graphwright._core.Tensor"' in lines[0]
    assert 'Missing positional argument "x" in call to "tanh"' in lines[1]
