"""The program `graphwright opt`: what it prints, and how it ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GW_BUILD_DIR", ROOT / "build" / "release"))
PROGRAM = BUILD / "bin" / "graphwright"

TEXT = """graphwright-ir 2
graph "f"
body(%0: float32[s0] "x") {
  %1: float32[] = Const() {value = float32[] {1}, dtype = float32}
  %2: float32[s0] = Mul(%0, %1)
  %3: float32[s0] = Neg(%2)
  %4: float32[s0] = Neg(%2)
  return %3, %4
}
"""


def opt(*arguments, text: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [PROGRAM, *arguments], input=text, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_passes_run_over_a_file_and_over_the_standard_input(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text(TEXT)
    code, out, err = opt("opt", str(file), "--passes=algebra,cse,prune", "--verify")
    assert (code, err) == (0, "")
    assert out == (
        "graphwright-ir 2\n"
        'graph "f" next 4\n'
        'body(%0: float32[s0] "x") {\n'
        '  %1: float32[s0] = Neg(%0) {} "" id 2\n'
        "  return %1, %1\n"
        "}\n"
    )
    assert opt("opt", "-", "--passes=algebra,cse,prune", text=TEXT)[1] == out
    assert opt("opt", "-", text=TEXT)[1] == out


def test_no_passes_print_the_text_that_reads_back_equal():
    code, out, _ = opt("opt", "-", "--passes=", text=TEXT)
    assert code == 0
    assert opt("opt", "-", "--passes=", text=out)[1] == out


def test_a_file_may_hold_several_graphs():
    text = TEXT + (
        'graph "g"\nbody(%0: float32[2] "x") {\n'
        '  %1: float32[2], %2: float32[2] = PartitionedCall(%0) calls "f"\n'
        "  return %1\n}\n"
    )
    code, out, _ = opt("opt", "-", text=text)
    assert code == 0
    assert out.count("graphwright-ir") == 1
    assert "PartitionedCall" not in out
    assert out.endswith('  %1: float32[2] = Neg(%0) {} "" id 3\n  return %1\n}\n')


def test_list_names_every_pass():
    code, out, _ = opt("opt", "--list")
    names = [line.split()[0] for line in out.splitlines()]
    assert code == 0
    assert names == "inline shapes fold algebra branches if-convert hoist cse prune".split()


def test_wrong_texts_end_with_1_and_the_place(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text(TEXT.replace("Mul(", "Mull("))
    code, out, err = opt("opt", str(file))
    assert (code, out) == (1, "")
    assert err == f"{file}:5: there is no op Mull\n"
    assert opt("opt", "-", text="graphwright-ir 1\n")[0] == 1
    code, _, err = opt("opt", "-", text=TEXT.replace("return %3, %4", "return %3, %9"))
    assert code == 1
    assert err == "<stdin>:8: %9 is not defined\n"
    code, _, err = opt("opt", "-", text=TEXT.replace("%3: float32", "%3: int32"))
    assert code == 1
    assert "rule 'types'" in err
    assert opt("opt", str(tmp_path / "missing"))[0] == 1


def test_wrong_command_lines_end_with_2():
    for arguments in (
        (),
        ("what",),
        ("opt",),
        ("opt", "-", "--passes=what"),
        ("opt", "-", "--what"),
        ("opt", "a", "b"),
    ):
        code, out, err = opt(*arguments, text=TEXT)
        assert (code, out) == (2, ""), arguments
        assert "usage: graphwright opt" in err
    assert opt("--help")[0] == 0
