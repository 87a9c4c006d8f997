"""What `./dev lint` runs.

Every check runs even if an earlier one failed; the exit code says whether all passed.
"""

from __future__ import annotations

import hashlib
import json
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
# clang-tidy takes several seconds a file. It looks at all files that the branch or the last commit
# touches, then, for this long, at those that it has not found clean as they are now.
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


def git_lines(*arguments: str) -> list[str]:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.splitlines() if found.returncode == 0 else []


def compiled(names: list[str]) -> list[Path]:
    unique = dict.fromkeys(n for n in names if n.startswith("src/") and n.endswith(".cpp"))
    return [ROOT / name for name in unique if (ROOT / name).exists()]


def touched() -> list[Path]:
    """What is not committed, and what the branch has changed; on main itself, the last commit."""
    names = git_lines("diff", "--name-only", "HEAD")
    names += git_lines("ls-files", "--others", "--exclude-standard")
    base = git_lines("merge-base", "HEAD", "main")
    head = git_lines("rev-parse", "HEAD")
    names += git_lines(
        "diff", "--name-only", base[0] if base and base != head else "HEAD~1", "HEAD"
    )
    return compiled(names)


def by_age() -> list[Path]:
    """All our compiled C++ files, the last changed first."""
    names = git_lines("log", "--pretty=format:", "--name-only")
    return compiled(names + git_lines("ls-files", "src"))


class CleanFiles:
    """Remembers, beside the build, which files were clean with what they include as it was."""

    def __init__(self, build: Path) -> None:
        self.path = build / "clang-tidy-clean.json"
        self.known: dict[str, str] = {}
        if self.path.exists():
            self.known = json.loads(self.path.read_text())
        self.included: dict[str, set[str]] = {}
        self.hashes: dict[str, bytes] = {}
        listing = subprocess.run(
            ["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True
        ).stdout
        for block in listing.split("\n\n"):
            places = (
                os.path.normpath(os.path.join(build, line.strip()))
                for line in block.splitlines()[1:]
            )
            files = {place for place in places if place.startswith(f"{ROOT}/")}
            for name in files:
                if name.endswith(".cpp"):
                    self.included.setdefault(name, set()).update(files)

    def content_hash(self, name: str) -> bytes:
        if name not in self.hashes:
            try:
                self.hashes[name] = hashlib.sha256(Path(name).read_bytes()).digest()
            except OSError:
                self.hashes[name] = b""
        return self.hashes[name]

    def state(self, path: Path) -> str:
        files = self.included.get(str(path), set()) | {str(path)}
        digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
        for name in sorted(files):
            digest.update(name.encode() + self.content_hash(name))
        return digest.hexdigest()

    def is_clean(self, path: Path) -> bool:
        return self.known.get(str(path.relative_to(ROOT))) == self.state(path)

    def add(self, path: Path) -> None:
        self.known[str(path.relative_to(ROOT))] = self.state(path)

    def save(self) -> None:
        self.path.write_text(json.dumps(self.known, indent=0, sort_keys=True))


def clang_tidy(venv: Path, build: Path) -> bool:
    command = [str(venv / "bin" / "clang-tidy"), "-p", str(build), "--quiet"]
    # The build's compiler is g++: flags that clang lacks, warnings that g++ lacks.
    for warning in ("unknown-warning-option", "unused-const-variable", "deprecated-declarations"):
        command.append(f"--extra-arg=-Wno-{warning}")
    known = CleanFiles(build)
    must = touched()
    others = [path for path in by_age() if path not in set(must)]
    end = time.monotonic() + TIDY_SECONDS

    def check(path: Path, required: bool) -> tuple[Path, int | None, str]:
        if not required and time.monotonic() > end:
            return path, None, ""
        done = subprocess.run([*command, str(path)], cwd=ROOT, capture_output=True, text=True)
        return path, done.returncode, done.stdout

    todo = [(path, True) for path in must if not known.is_clean(path)]
    todo += [(path, False) for path in others if not known.is_clean(path)]
    checked, good = 0, True
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, code, output in pool.map(lambda item: check(*item), todo):
            checked += code is not None
            if code:
                good = False
                print(output or f"{path.relative_to(ROOT)}: clang-tidy ended with {code}")
            elif code == 0:
                known.add(path)
    known.save()
    total = len(must) + len(others)
    print(
        f"clang-tidy: {checked} files looked at, all {len(must)} that were touched among them; "
        f"{total - len(todo)} clean before and unchanged; {len(todo) - checked} left for later"
    )
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
