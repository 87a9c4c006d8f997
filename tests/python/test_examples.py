"""The examples run and print what they should."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_example(name: str) -> str:
    program = str(ROOT / "examples" / name)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_power_iteration():
    # numpy.linalg.eigh of numpy.cov: 4.22824171, (0.36138659, -0.08452251, 0.85667061, 0.35828920)
    lines = run_example("power_iteration.py").splitlines()
    assert [line.split(":")[0].strip() for line in lines] == ["eager", "staged"]
    for line in lines:
        assert "direction (+0.3614, -0.0845, +0.8567, +0.3583)" in line
        assert "variance 4.2282 cm^2" in line
        steps = int(re.search(r"(\d+) steps", line).group(1))
        assert 5 <= steps <= 20
