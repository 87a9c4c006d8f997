"""Writes docs/coverage.md and the part of README.md that says what works, from the tables.

Run by `./dev run tools/coverage_page.py`; with --check it only says whether they are up to date.
"""

from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path

import graphwright
from graphwright import _core

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"
README = ROOT / "README.md"
START = "<!-- what works: written by tools/coverage_page.py -->"
END = "<!-- end of what works -->"


def first_line(doc: str | None) -> str:
    """The first sentence of a doc, fit for a table."""
    text = " ".join((doc or "").strip().split("\n\n")[0].split())
    head, stop, _ = text.partition(". ")
    return (head + stop).strip().replace("|", "\\|")


def code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def decided(rule: bool | str) -> str:
    return "yes" if rule is True else f"no: {rule}"


def types_of(row: dict) -> str:
    return "; ".join(f"{variable}: {', '.join(names)}" for variable, names in row["types"].items())


def reference(row: dict) -> str:
    if row["reference"]:
        return f"NumPy: `{row['reference']}`".replace("|", "\\|")
    return row["no_reference_because"] or ""


def op_table(rows: list[dict]) -> list[str]:
    lines = [
        "| op | Python | what it does | dtypes | computed as | gradient | forward | reference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row["name"].lower()):
        cells = [
            f"`{row['name']}`",
            code(row["python_names"]),
            first_line(row["doc"]),
            types_of(row),
            row["compute"],
            decided(row["gradient"]),
            decided(row["forward"]),
            reference(row),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def function_table(rows: list[dict]) -> list[str]:
    lines = ["| function | what it does |", "|---|---|"]
    for row in sorted(rows, key=lambda row: row["names"][0]):
        lines.append(f"| {code(row['names'])} | {first_line(row['doc'])} |")
    return lines


def package_names() -> dict[str, object]:
    """Public names of the package and its modules that come from neither table."""
    found: dict[str, object] = {}
    seen: set[int] = set()

    def walk(module: types.ModuleType, prefix: str) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        for name, value in sorted(vars(module).items()):
            if name.startswith("_"):
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("graphwright.") and "._" not in value.__name__:
                    walk(value, f"{prefix}{name}.")
            elif inspect.isclass(value) or callable(value) or type(value).__name__ == "DType":
                owner = getattr(value, "__module__", None) or ""
                if owner.startswith("graphwright") or not inspect.isclass(value):
                    found[f"{prefix}{name}"] = value

    walk(graphwright, "")
    return found


def other_table(rows: list[dict], functions: list[dict]) -> list[str]:
    listed = {name for row in rows for name in row["python_names"]}
    listed |= {name for row in functions for name in row["names"]}
    kinds: dict[str, list[str]] = {}
    for name, value in package_names().items():
        if name in listed or name.startswith("raw_ops."):
            continue
        kind = "classes" if inspect.isclass(value) else "functions" if callable(value) else "dtypes"
        if inspect.isclass(value) and issubclass(value, BaseException):
            kind = "errors"
        kinds.setdefault(kind, []).append(name)
    return [f"- {kind}: {code(sorted(names))}" for kind, names in sorted(kinds.items())]


def public_rows() -> list[dict]:
    """The function table without the rows that only other modules of the package call."""
    return [row for row in _core.function_rows() if not row["names"][0].startswith("_")]


def page() -> str:
    rows, functions = _core.op_rows(), public_rows()
    lines = [
        "# What works today",
        "",
        "Written by `tools/coverage_page.py` from the op table and the function table.",
        "",
        f"## Ops ({len(rows)})",
        "",
        *op_table(rows),
        "",
        f"## Functions over those ops ({len(functions)})",
        "",
        *function_table(functions),
        "",
        "## The rest of the package",
        "",
        *other_table(rows, functions),
        "",
    ]
    return "\n".join(lines)


def summary() -> str:
    rows, functions = _core.op_rows(), public_rows()
    differentiable = sum(row["gradient"] is True for row in rows)
    public = sorted({row["python_names"][0] for row in rows if row["python_names"]})
    public += sorted({row["names"][0] for row in functions})
    counts = f"{len(rows)} ops ({differentiable} with a gradient), {len(functions)} functions"
    return f"{counts}:\n\n{code(sorted(set(public)))}"


def main() -> int:
    readme = README.read_text()
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    wanted = {PAGE: page(), README: f"{before}{START}\n{summary()}\n{END}{after}"}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: ./dev run tools/coverage_page.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
