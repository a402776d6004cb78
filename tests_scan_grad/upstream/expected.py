"""Expected failures of another project's tests, with reasons, and how a run compares with them.

A list has one line per test, ``test id: reason``; lines that start with # are comments. What is
expected with one release of PyTensor only is in a list of its own, whose name ends with that of
the release: ``theano_tensor_test_blas_pytensor_3.3.txt``.
"""

from pathlib import Path

import pytensor

from tests_scan_grad.upstream.run import Outcome, Way
from tests_scan_grad.upstream.suites import Suite

LISTS = Path(__file__).parent / "expected_failures"
RELEASE = ".".join(pytensor.__version__.split(".")[:2])


def expected_failures(suite: Suite, way: Way) -> dict[str, str]:
    """Test id -> reason."""
    reasons: dict[str, str] = {}
    for name in (way.name, *way.lists):
        reasons |= read_lists(f"{suite.name}_{name}")
    return reasons


def read_lists(name: str) -> dict[str, str]:
    """Test id -> reason, of a list and of that of this release, if there are any."""
    reasons: dict[str, str] = {}
    for suffix in ("", f"_pytensor_{RELEASE}"):
        path = LISTS / f"{name}{suffix}.txt"
        if path.exists():
            reasons |= read_list(path)
    return reasons


def read_list(path: Path) -> dict[str, str]:
    """Test id -> reason, of one list."""
    reasons = {}
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        test, separator, reason = line.partition(": ")
        if not separator or not reason.strip() or test in reasons:
            raise ValueError(f"{path.name}: a line must be 'test id: reason', once: {line!r}")
        reasons[test] = reason.strip()
    return reasons


def differences(outcomes: dict[str, Outcome], reasons: dict[str, str]) -> list[str]:
    """Return how a run differs from what is expected of it, one line per test."""
    found = []
    for test, outcome in outcomes.items():
        if outcome.state == "failed" and test not in reasons:
            found.append(f"{test} failed: {outcome.message}")
        elif outcome.state != "failed" and test in reasons:
            found.append(f"{test} {outcome.state}, but was expected to fail: {reasons[test]}")
    for test in reasons:
        if test not in outcomes:
            found.append(f"{test} was not run, but is listed as an expected failure")
    return found
