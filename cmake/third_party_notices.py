"""Write the notices of the third-party software that our binaries carry.

Usage: third_party_notices.py OUTPUT

The texts come from the installed packages that the binaries are built from, so they always belong
to the versions in use.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

# What is carried, the package it comes from, and the ends of the paths of its notices there. The
# notice of a header-only library stands in a header's first comment.
CARRIED = (
    ("oneTBB (shared library)", "tbb4u", ("licenses/LICENSE.txt", "third-party-programs.txt")),
    ("oneDNN (shared library)", "onednn-cpu-tbb", ("onednn/LICENSE", "THIRD-PARTY-PROGRAMS")),
    ("OpenBLAS and LAPACK (shared library)", "scipy-openblas32", ("licenses/LICENSE.txt",)),
    ("nanobind (headers)", "nanobind", ("licenses/LICENSE",)),
    ("fmt (headers)", "cmeel-fmt", ("include/fmt/format.h",)),
)


def notice(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".h":
        text = text[text.index("/*") + 2 : text.index("*/")]
    return text.strip()


def main() -> None:
    parts = ["graphwright carries or is built from the following software, under these terms."]
    for title, distribution, endings in CARRIED:
        try:
            files = metadata.distribution(distribution).files or []
        except metadata.PackageNotFoundError:
            continue  # this configuration is built without it
        parts.append(f"{'=' * 80}\n{title}, version {metadata.version(distribution)}\n{'=' * 80}")
        for ending in endings:
            found = [file for file in files if file.as_posix().endswith(ending)]
            if not found:
                sys.exit(f"{distribution} has no file that ends in {ending}: its notice is missing")
            parts.append(notice(Path(str(found[0].locate()))))
    Path(sys.argv[1]).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
