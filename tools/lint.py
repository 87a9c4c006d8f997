"""What `./dev lint` runs.

Every check runs even if an earlier one failed; the exit code says whether all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_text
import environment
from environment import ROOT, say

PYTHON_FOLDERS = ["python", "tests", "tools", "benchmarks", "examples", "cmake"]
# clang-tidy takes several seconds a file, so it looks at the files changed last, for this long.
TIDY_SECONDS = 120


def cpp_files() -> list[Path]:
    return [
        path for path in check_text.tracked_files() if path.suffix in (".h", ".cpp", ".c", ".inc")
    ]


def clang_format(venv: Path, fix: bool) -> bool:
    files = [str(path.relative_to(ROOT)) for path in cpp_files()]
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    command = [str(venv / "bin" / "clang-format"), *mode, *files]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def ruff(venv: Path, fix: bool) -> bool:
    folders = [folder for folder in PYTHON_FOLDERS if (ROOT / folder).exists()] + [
        "tools/check_layers"
    ]
    program = str(venv / "bin" / "ruff")
    style = [program, "check", "--quiet", *(["--fix"] if fix else []), *folders]
    layout = [program, "format", "--quiet", *([] if fix else ["--check", "--diff"]), *folders]
    codes = [subprocess.run(command, cwd=ROOT).returncode for command in (style, layout)]
    return not any(codes)


def mypy(venv: Path) -> bool:
    return subprocess.run([str(venv / "bin" / "mypy")], cwd=ROOT).returncode == 0


def layers() -> bool:
    return subprocess.run([sys.executable, "tools/check_layers"], cwd=ROOT).returncode == 0


def recently_changed() -> list[Path]:
    """Our compiled C++ files, the last changed first: uncommitted ones, then by commit."""

    def names(*arguments: str) -> list[str]:
        found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return found.stdout.splitlines() if found.returncode == 0 else []

    ordered = names("diff", "--name-only", "HEAD")
    ordered += names("ls-files", "--others", "--exclude-standard")
    ordered += names("log", "--pretty=format:", "--name-only")
    unique = dict.fromkeys(name for name in ordered if name.startswith("src/"))
    # Kernels are written with g++'s vector extensions, which clang's front end does not know.
    return [
        ROOT / name
        for name in unique
        if name.endswith(".cpp")
        and not name.endswith((".ops.cpp", ".isa.cpp"))
        and (ROOT / name).exists()
    ]


def clang_tidy(venv: Path, build: Path) -> bool:
    end = time.monotonic() + TIDY_SECONDS
    command = [str(venv / "bin" / "clang-tidy"), "-p", str(build), "--quiet"]
    command.append("--extra-arg=-Wno-unknown-warning-option")  # the build's compiler is g++

    def check(path: Path) -> tuple[Path, int | None, str]:
        if time.monotonic() > end:
            return path, None, ""
        done = subprocess.run([*command, str(path)], cwd=ROOT, capture_output=True, text=True)
        return path, done.returncode, done.stdout

    files = recently_changed()
    checked, good = 0, True
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, code, output in pool.map(check, files):
            checked += code is not None
            if code:
                good = False
                print(output or f"{path.relative_to(ROOT)}: clang-tidy ended with {code}")
    print(f"clang-tidy: {checked} of {len(files)} files, the last changed first")
    return good


def main(build: Path, venv: Path, fix: bool = False) -> int:
    checks = {
        "clang-format": lambda: clang_format(venv, fix),
        "ruff": lambda: ruff(venv, fix),
        "mypy": lambda: mypy(venv),
        "layers": layers,
        "text": lambda: check_text.main() == 0,
        "clang-tidy": lambda: clang_tidy(venv, build),
    }
    failed = []
    for name, check in checks.items():
        say(name)
        if not check():
            failed.append(name)
    if failed:
        print(f"lint: failed: {', '.join(failed)}")
        return 1
    print(f"lint: all {len(checks)} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT / "build" / "release", environment.development()))
