"""Make a folder importable as the package: links to its Python sources beside the built module.

Usage: link_package.py SOURCE_PACKAGE BUILT_PACKAGE LIBRARY_FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def link(target: Path, name: Path) -> None:
    if name.is_symlink():
        if os.readlink(name) == str(target):
            return
        name.unlink()
    name.symlink_to(target)


def main() -> None:
    source, built, library_folder = (Path(argument).resolve() for argument in sys.argv[1:4])
    built.mkdir(parents=True, exist_ok=True)
    wanted = {"lib": library_folder}
    wanted |= {entry.name: entry for entry in source.iterdir() if entry.name != "__pycache__"}
    for entry in built.iterdir():
        if entry.is_symlink() and entry.name not in wanted:
            entry.unlink()
    for name, target in wanted.items():
        link(target, built / name)


if __name__ == "__main__":
    main()
