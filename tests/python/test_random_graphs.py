"""Random graphs in large numbers: plans compute what a naive interpreter computes."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("GW_BUILD_DIR", ROOT / "build" / "release"))
PROGRAM = BUILD / "bin" / "graphwright_tests"


@pytest.mark.long
def test_random_graphs(capsys):
    if not PROGRAM.exists():
        pytest.skip("the C++ tests are not built")
    environment = {
        "GRAPHWRIGHT_FUZZ_PROGRAMS": "100000",
        "GRAPHWRIGHT_FUZZ_SEED": "1000000",
        **os.environ,
    }
    done = subprocess.run(
        [str(PROGRAM), "--test-case=random programs run as the interpreter runs them"],
        env=environment,
        capture_output=True,
        text=True,
    )
    with capsys.disabled():
        lines = [line for line in done.stdout.splitlines() if "random programs from seed" in line]
        print("\n" + "\n".join(lines))
    assert done.returncode == 0 and lines, done.stdout + done.stderr
