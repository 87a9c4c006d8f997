"""The installed C++ library is found by CMake and works without Python and LLVM."""

import os
import shutil
import subprocess
import time
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


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    source = ROOT / "examples" / "cpp"
    begin = time.monotonic()
    run("cmake", "-G", "Ninja", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder)
    seconds = time.monotonic() - begin
    print(f"both examples configured, compiled and linked in {seconds:.1f} s")
    assert seconds < 60
    return folder


def test_hello(examples):
    text = run(examples / "hello")
    assert text.startswith("graphwright ")
    assert "[[ 8. 11.]\n [16. 23.]]" in text


def test_loop_with_variable_and_list(examples):
    """Numbers of the orbit by hand: 3.2 * 0.5 * 0.5 = 0.8, 3.2 * 0.8 * 0.2 = 0.512..."""
    text = run(examples / "loop_with_variable_and_list")
    assert "path: tf.Tensor([0.8        0.512      0.7995392  0.5128841" in text
    assert "steps taken: 1006\n" in text
    for op in ("While", "AssignAddVariableOp", "TensorListPushBack", "TensorListStack"):
        assert f" {op}(" in text
    # By central differences in float64.
    (derivative,) = (line.split()[-1] for line in text.splitlines() if "d last / d rate" in line)

    def last(rate: float) -> float:
        x = 0.5
        for _ in range(6):
            x = rate * x * (1 - x)
        return x

    assert float(derivative) == pytest.approx((last(3.2 + 1e-6) - last(3.2 - 1e-6)) / 2e-6, 1e-4)
    assert "refused: argument #0" in text and "at loop_with_variable_and_list.cpp:" in text


def test_program_needs_neither_python_nor_llvm(examples):
    """Not even through the libraries that it loads."""
    loaded = run("ldd", examples / "loop_with_variable_and_list").lower()
    assert "libgraphwright" in loaded
    for word in ("python", "llvm", "dnnl", "openblas", "not found"):
        assert word not in loaded, loaded


def test_library_is_small(prefix, tmp_path):
    (library,) = prefix.glob("lib*/libgraphwright.so.*.*.*")
    stripped = tmp_path / "stripped.so"
    shutil.copy(library, stripped)
    run("strip", "--strip-unneeded", stripped)
    size = stripped.stat().st_size
    print(f"libgraphwright, stripped: {size / 1e6:.2f} MB")
    assert size < 10e6


@pytest.mark.parametrize("compiler", ["g++", "clang++", "clang++-19"])
def test_headers_are_cheap_and_without_warnings(prefix, tmp_path, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "empty.cpp"
    source.write_text("#include <graphwright/graphwright.h>\nint main() {}\n")
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    command += [f"-I{prefix}/include", "-c", source, "-o", tmp_path / "empty.o"]
    before = os.times()
    run(*command)
    after = os.times()
    seconds = (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
    print(f"{compiler}: <graphwright/graphwright.h> takes {seconds:.2f} s")
    assert seconds < 2  # 0.4 s on an idle machine


def test_every_header_stands_alone(prefix, tmp_path):
    for header in sorted((prefix / "include" / "graphwright").glob("*.h")):
        source = tmp_path / "one.cpp"
        source.write_text(f"#include <graphwright/{header.name}>\n")
        run("g++", "-std=c++20", "-Wall", "-Werror", f"-I{prefix}/include", "-fsyntax-only", source)


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
    # The interface's version is in every name of it, and nothing of the core is exported.
    ours = [line for line in run("nm", "-DC", "--defined-only", library).splitlines()]
    ours = [line for line in ours if "graphwright::" in line and "graphwright::version" not in line]
    assert ours and all("graphwright::api::v1::" in line for line in ours), ours
    # Only data of our own layout crosses: no types of the standard library in a signature.
    assert not [line for line in ours if "std::" in line], ours
