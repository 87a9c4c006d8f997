"""The installed C++ library is found by CMake and works without Python and LLVM."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GW_BUILD_DIR", ROOT / "build" / "release"))


def run(*command) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder, "--component", "devel")
    return folder


def test_example_builds_against_the_installed_library(prefix, tmp_path):
    example = ROOT / "examples" / "cpp"
    run("cmake", "-G", "Ninja", "-S", example, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "hello").startswith("graphwright ")


def test_library_needs_neither_python_nor_llvm(prefix):
    (library,) = prefix.glob("lib*/libgraphwright.so.*.*.*")
    needed = [line for line in run("readelf", "-d", library).splitlines() if "NEEDED" in line]
    assert needed
    for word in ("python", "LLVM", "dnnl", "openblas"):
        assert not any(word in line for line in needed), needed


def test_only_marked_symbols_are_exported(prefix):
    (library,) = prefix.glob("lib*/libgraphwright.so.*.*.*")
    names = [line.split()[-1] for line in run("nm", "-DC", "--defined-only", library).splitlines()]
    assert any("graphwright::version" in line for line in run("nm", "-DC", library).splitlines())
    foreign = [name for name in names if name.startswith(("tbb::", "fmt::", "nanobind::"))]
    assert not foreign
