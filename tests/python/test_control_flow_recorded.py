"""Control flow by hand against what control_flow_programs.py recorded from TensorFlow 2.21."""

import json
import pathlib

import control_flow_programs
import numpy as np
import pytest

import graphwright as tf

RECORDED = json.loads(
    (pathlib.Path(__file__).parent / "data" / "control_flow.json").read_text(encoding="utf-8")
)
GRAPHS = control_flow_programs.graph_programs(tf)
VALUES = control_flow_programs.value_programs(tf)

# Where the error is another one, and why.
OTHER_ERRORS: dict[str, str] = {}


def test_everything_recorded_is_compared():
    assert RECORDED["graphs"].keys() == GRAPHS.keys()
    assert RECORDED["values"].keys() == VALUES.keys()


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_nodes(name):
    function, specs = GRAPHS[name]
    assert control_flow_programs.graph_lists(tf, function, specs) == RECORDED["graphs"][name]


def close(got, want):
    if isinstance(want, dict) and want.keys() == {"dtype", "value"}:
        assert got["dtype"] == want["dtype"]
        np.testing.assert_allclose(got["value"], want["value"], rtol=1e-6)
    elif isinstance(want, dict):
        assert got.keys() == want.keys()
        for key in want:
            close(got[key], want[key])
    elif isinstance(want, list):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            close(one, other)
    else:
        assert got == want


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values(name):
    want = RECORDED["values"][name]
    got = control_flow_programs.outcome(tf, VALUES[name])
    if "error" in want:
        assert got.get("error") == OTHER_ERRORS.get(name, want["error"]), got
    else:
        assert "error" not in got, got
        close(got["value"], want["value"])
