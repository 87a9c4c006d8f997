"""Builds the wheel as pip does it for a user, and tries it on every Python of the machine.

Each try is a new environment that holds the wheel and what it depends on, nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from environment import ROOT, say

SMOKE_TEST = ROOT / "tests" / "packaging" / "wheel_smoke.py"
VERSION_OF = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"


def pythons() -> dict[str, str]:
    """The interpreters found, by version, from 3.10 on; one for each version."""
    candidates = [sys.executable]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidates += sorted(str(path) for path in Path(folder or ".").glob("python3.[0-9]*"))
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += sorted(str(path) for path in versions.glob("3.*/bin/python"))
    found: dict[str, str] = {}
    for candidate in candidates:
        if not re.fullmatch(r"python(3(\.\d+)?)?", Path(candidate).name):
            continue
        try:
            done = subprocess.run([candidate, "-c", VERSION_OF], capture_output=True, text=True)
        except OSError:
            continue
        version, _, implementation = done.stdout.strip().partition(" ")
        if done.returncode != 0 or implementation != "cpython":
            continue
        if tuple(int(part) for part in version.split(".")) >= (3, 10):
            found.setdefault(version, candidate)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def build(venv: Path) -> Path:
    folder = ROOT / "build" / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    say("building the wheel")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", ".", "--no-deps", "-w", str(folder)], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    if "-cp310-abi3-" not in wheel.name:
        sys.exit("the wheel is not for the stable ABI of Python 3.10")
    return wheel


def try_on(version: str, python: str, wheel: Path, venv: Path, with_tests: bool) -> bool:
    say(f"trying it on Python {version}")
    folder = ROOT / "build" / "wheel" / f"python{version}"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    inside = str(folder / "bin" / "python")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "--python", inside, "install", "-q", str(wheel)], check=True)
    # -I: neither the current folder nor the user's variables may lend it anything.
    if subprocess.run([inside, "-I", str(SMOKE_TEST)], cwd=folder).returncode != 0:
        return False
    if not with_tests:
        return True
    subprocess.run([*pip, "--python", inside, "install", "-q", "pytest"], check=True)
    tests = [inside, "-I", "-m", "pytest", "-p", "no:cacheprovider", str(ROOT / "tests" / "python")]
    return subprocess.run(tests, cwd=ROOT).returncode == 0


def main(venv: Path, wanted: list[str], with_tests: bool = False) -> int:
    found = pythons()
    if wanted:
        found = {version: python for version, python in found.items() if version in wanted}
    wheel = build(venv)
    failed = [
        version
        for version, python in found.items()
        if not try_on(version, python, wheel, venv, with_tests)
    ]
    if failed or not found:
        print(f"wheel: failed on Python {', '.join(failed) or '(none was found)'}")
        return 1
    print(f"wheel: works on Python {', '.join(found)}")
    return 0
