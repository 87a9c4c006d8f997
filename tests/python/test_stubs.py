"""Type stubs are made from the tables: every public function has one, and they are valid Python."""

import ast
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
        "def tanh(x: Any, name: str | None = None) -> Any:"
        in (tmp_path / "__init__.pyi").read_text()
    )
