"""The programs on which conversions are compared, and how their texts are compared.

TensorFlow writes the names of a `nonlocal` statement, and the assignments of undefined variables
before a construct, in an order that changes from run to run; everything else must be equal.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "data" / "autograph_to_code.json"
MODULES = ("autograph_programs", "autograph_programs_expressions", "autograph_programs_more")
# TensorFlow itself fails on these with internal errors; what they convert to is ours.
OURS = {"walrus", "match_statement", "match_in_loop", "class_body_control"}

_NAMES = re.compile(r"^( *)(nonlocal|global) (.*)$")
_UNDEFINED = re.compile(r"^ *\w+ = ag__\.Undefined\('\w+'\)$")


def programs(tensorflow) -> dict:
    """All programs by name; in them, `tf` is the given module."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        module.tf = tensorflow
        for name, value in vars(module).items():
            if (
                inspect.isfunction(value)
                and value.__module__ == module_name
                and not name.startswith("make_")
            ):
                found[name] = value
    return found


def recorded() -> dict[str, str]:
    """TensorFlow's own texts, by program."""
    return json.loads(RECORDED.read_text())


def normalised(text: str) -> str:
    lines, undefined = [], []
    for line in text.split("\n"):
        names = _NAMES.match(line)
        if names:
            line = f"{names[1]}{names[2]} {', '.join(sorted(names[3].split(', ')))}"
        if _UNDEFINED.match(line):
            undefined.append(line)
            continue
        lines += sorted(undefined)
        undefined = []
        lines.append(line)
    return "\n".join(lines + sorted(undefined))
