"""Shows every C++ unit test as a pytest item, so that one summary counts them all.

The cases of one source file run in one process; a crash fails the cases that did not finish.
"""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GW_BUILD_DIR", ROOT / "build" / "release"))
PROGRAM = BUILD / "bin" / "graphwright_tests"


def run_doctest(*arguments: str) -> tuple[ElementTree.Element | None, str]:
    """The XML report of a run (None if it is cut short), and all that the program printed."""
    done = subprocess.run(
        [str(PROGRAM), "--reporters=xml", *arguments],
        capture_output=True,
        text=True,
        errors="replace",
    )
    printed = done.stdout + done.stderr
    try:
        return ElementTree.fromstring(done.stdout), printed
    except ElementTree.ParseError:
        return None, f"{PROGRAM.name} ended with {done.returncode}\n{printed}"


class CaseFailed(Exception):
    pass


class Case(pytest.Item):
    def runtest(self) -> None:
        report = self.parent.reports().get(self.name)  # type: ignore[union-attr]
        if report is None:
            raise CaseFailed(self.parent.printed())  # type: ignore[union-attr]
        if report.get("skipped") == "true":
            pytest.skip("skipped by its decorator")
        result = report.find("OverallResultsAsserts")
        if result is None or result.get("test_case_success") != "true":
            raise CaseFailed(describe(report))

    def repr_failure(self, excinfo):  # type: ignore[override]
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


class CppFile(pytest.File):
    _run: tuple[dict[str, ElementTree.Element], str] | None = None

    def collect(self):
        if not PROGRAM.exists():
            raise self.CollectError(f"{PROGRAM} is not built; ./dev test builds it")
        for name in listed_cases().get(self.path.name, []):
            yield Case.from_parent(self, name=name)

    def run(self) -> tuple[dict[str, ElementTree.Element], str]:
        if self._run is None:
            root, printed = run_doctest(f"--source-file=*/{self.path.name}")
            cases = [] if root is None else list(root.iter("TestCase"))
            self._run = {case.get("name", ""): case for case in cases}, printed
        return self._run

    def reports(self) -> dict[str, ElementTree.Element]:
        return self.run()[0]

    def printed(self) -> str:
        return self.run()[1]


_cases: dict[str, list[str]] | None = None


def listed_cases() -> dict[str, list[str]]:
    """Names of the test cases by the name of their source file."""
    global _cases
    if _cases is None:
        root, printed = run_doctest("--list-test-cases")
        if root is None:
            raise pytest.UsageError(printed)
        _cases = {}
        for case in root.iter("TestCase"):
            _cases.setdefault(Path(case.get("filename", "")).name, []).append(case.get("name", ""))
    return _cases


def describe(report: ElementTree.Element) -> str:
    lines = [f"{report.get('filename')}:{report.get('line')}: {report.get('name')}"]
    for element in report.iter():
        place = f"{element.get('filename')}:{element.get('line')}"
        if element.tag == "Expression" and element.get("success") != "true":
            lines.append(f"{place}: {element.get('type')} failed")
            lines += [f"    {child.tag.lower()}: {(child.text or '').strip()}" for child in element]
        elif element.tag == "Message":
            lines.append(f"{place}: {' '.join(''.join(element.itertext()).split())}")
        elif element.tag == "Exception":
            lines.append(f"    exception: {(element.text or '').strip()}")
    return "\n".join(lines)


def pytest_collect_file(file_path: Path, parent):
    if file_path.name.endswith("_test.cpp"):
        return CppFile.from_parent(parent, path=file_path)
    return None
