"""Checks rules of the house on the text of every tracked file.

They are: the length of files and lines, marks of unfinished work, paths of one machine, and blanks
at the end of lines.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 1000
MAX_COLUMNS = 100
MAX_FILES_IN_FOLDER = 30
CODE = {".h", ".c", ".cpp", ".inc", ".py", ".cmake", ".sh"}
PROSE = {".md", ".toml", ".json", ".txt", ".yml", ".yaml"}
# The marks are put together here so that this file does not break its own rule.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(home|work|root|Users)/\w")


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


def check_file(path: Path) -> list[str]:
    relative = path.relative_to(ROOT)
    is_code = path.suffix in CODE or path.name in ("dev", "run", "check_layers", "CMakeLists.txt")
    if not is_code and path.suffix not in PROSE:
        return []
    problems = []
    lines = path.read_text().splitlines()
    if is_code and len(lines) > MAX_LINES:
        problems.append(f"{relative}:1: {len(lines)} lines; the limit is {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        where = f"{relative}:{number}"
        if is_code and len(line) > MAX_COLUMNS and "http" not in line:
            problems.append(f"{where}: {len(line)} columns; the limit is {MAX_COLUMNS}")
        if UNFINISHED.search(line):
            problems.append(f"{where}: a mark of unfinished work")
        if MACHINE_PATH.search(line):
            problems.append(f"{where}: a path of one machine")
        # Recorded output keeps the blanks that were printed.
        if line != line.rstrip() and "tests/python/programs" not in str(relative):
            problems.append(f"{where}: blanks at the end of the line")
    return problems


def main() -> int:
    files = tracked_files()
    problems = [problem for path in files for problem in check_file(path)]
    for problem in problems:
        print(problem)
    print(f"check_text: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
