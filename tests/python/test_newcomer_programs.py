"""Small programs, as somebody new to the package writes them, print what TensorFlow prints.

Each programs/NAME.py was run with `import tensorflow as tf` on TensorFlow 2.21; NAME.txt is what it
printed there, prints of the graph (on standard error) among the others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_prints_what_tensorflow_prints(program):
    done = subprocess.run(
        [sys.executable, "-u", str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )
    printed = done.stdout.decode()
    assert printed == program.with_suffix(".txt").read_text(encoding="utf-8")
    assert done.returncode == 0
