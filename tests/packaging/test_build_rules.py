"""Rules of the build that results depend on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GW_BUILD_DIR", ROOT / "build" / "release"))


def compile_commands() -> list[dict]:
    return json.loads((BUILD / "compile_commands.json").read_text())


def test_every_core_file_is_compiled_without_contraction():
    """The numerics contract: fused multiply-add only where a formula writes one."""
    commands = [c for c in compile_commands() if c["file"].endswith(".cpp")]
    assert commands
    for command in commands:
        flags = command["command"].split()
        assert "-ffp-contract=off" in flags, command["file"]
        assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(flags)


def test_wide_instructions_are_used_only_per_width():
    """A file that is not compiled per width must run on any x86-64-v2 CPU."""
    for command in compile_commands():
        flags = command["command"].split()
        if any(flag.startswith("-DGW_ISA=") for flag in flags):
            continue
        wide = [flag for flag in flags if flag.startswith(("-mavx", "-mfma", "-march="))]
        assert wide in ([], ["-march=x86-64-v2"]), command["file"]


@pytest.mark.parametrize(
    ("path", "line", "complaint"),
    [
        ("src/tensor/a.h", '#include "runtime/eager.h"', "runtime is above it"),
        ("src/base/a.cpp", '#include "status.h"', "relative to src/"),
        ("src/ir/a.cpp", "#include <Python.h>", "only from src/python"),
        ("src/kernels/a.cpp", "#include <oneapi/tbb/parallel_for.h>", "only from src/base"),
        ("src/elsewhere/a.cpp", "", "knows"),
        ("src/runtime/a.cpp", '#include "tensor/dtype.h"', None),
    ],
)
def test_check_layers(tmp_path, path, line, complaint):
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools" / "check_layers"
    tool.write_text((ROOT / "tools" / "check_layers").read_text())
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(f"// A file.\n{line}\n")
    done = subprocess.run([sys.executable, str(tool)], capture_output=True, text=True)
    if complaint is None:
        assert done.returncode == 0, done.stdout
    else:
        assert done.returncode == 1
        assert f"{path}:" in done.stdout and complaint in done.stdout


@pytest.mark.parametrize("product", ["_core", "graphwright", "graphwright_tests"])
def test_wide_objects_are_linked_last_and_narrowest_first(product):
    """Of two copies of an inline function the linker keeps the first: it must be the narrowest."""
    printed = subprocess.run(
        ["ninja", "-C", str(BUILD), "-t", "commands", product],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # The product's own link comes last; before it, programs of the build may be linked.
    *_, link = (
        line.split()
        for line in printed.splitlines()
        if " -c " not in line and "gw_base.dir/" in line
    )
    suffixes = ("_sse42.dir/", "_avx2.dir/", "_avx512.dir/")
    widths = [
        max((rank for rank, suffix in enumerate(suffixes, 1) if suffix in word), default=0)
        for word in link
        if word.endswith(".o")
    ]
    assert len(widths) > 10
    assert widths == sorted(widths)
