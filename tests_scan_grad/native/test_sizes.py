"""Sizes that overflow, or that no memory is large enough for: refused, with the operation's name."""

import json
import sys

import numpy as np
import pytest

import theano
from tests_scan_grad.fresh_process import run_python
from tests_scan_grad.native.size_probes import PROBES, Probe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")

# what an operation says of a size that is too large, negative, or past the end
REFUSALS = {"ValueError", "MemoryError", "IndexError", "OverflowError", "ZeroDivisionError"}


@pytest.fixture(scope="module")
def outcomes():
    """By probe and by what ran it, what came of each call; each probe had its own process."""
    flags = f"base_compiledir={theano.config.base_compiledir},floatX=float64"
    code = "from tests_scan_grad.native.size_probes import main; main([])"
    done = run_python(code, THEANO_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stdout.splitlines():
        name, mode, outcome = json.loads(line)
        found[name, mode] = outcome
    return found


@pytest.mark.parametrize("name", PROBES)
def test_no_size_overflows(outcomes, name):
    expected, actual = outcomes[name, "python"], outcomes[name, "native"]
    assert isinstance(expected, list), expected
    assert isinstance(actual, list), actual
    wrong = [
        f"{values}: {str(got)[:200]} instead of {str(wanted)[:200]}"
        for values, wanted, got in zip(PROBES[name].calls, expected, actual, strict=True)
        if not _is_right(PROBES[name], values, wanted, got)
    ]
    assert not wrong, "\n".join(wrong)


def _is_right(probe: Probe, values, wanted, got) -> bool:
    if isinstance(got, dict):
        refused = got["kind"] in REFUSALS and "Apply node that caused the error" in got["text"]
        past_the_end = probe.wraps and np.max(values) >= 2**63 and got["kind"] == "IndexError"
        return refused and (isinstance(wanted, dict) or past_the_end)
    if isinstance(wanted, dict):
        # what needs too much memory may be more than what is computed in the end
        return probe.answer is not None and [np.ravel(probe.answer(*values)).tolist()] == [
            content for _, _, content in got
        ]
    return got == wanted
