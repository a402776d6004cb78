"""Comparison of a run of a module of Theano's tests with Theano 1.0.5 and with what is expected.

The expected failures of a module are a list, named after it, of lines ``id: reason``. An id is a
test's, or that of a class or a module of which nothing can be run. A reason that begins with
"not run" keeps the test from being run at all.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from tests_scan_grad.upstream.expected import read_lists
from tests_scan_grad.upstream.run import Outcome
from tests_scan_grad.upstream.theano_tests.reference import Reference


@dataclass(frozen=True)
class Comparison:
    """A module's tests, ours beside Theano's.

    Attributes
    ----------
    passed
        How many of those that Theano 1.0.5 passes pass.
    upstream
        How many Theano 1.0.5 passes.
    listed
        How many are listed as expected failures.
    differences
        What differs from the list, one line each.
    """

    passed: int
    upstream: int
    listed: int
    differences: list[str]


def expected_failures(module: str) -> dict[str, str]:
    """Test id -> reason."""
    parts = [p for p in PurePosixPath(module).with_suffix("").parts if p != "tests"]
    return read_lists("_".join(parts))


def not_run(module: str) -> list[str]:
    """The tests that must not be run."""
    reasons = expected_failures(module)
    return [test for test, reason in reasons.items() if reason.startswith("not run")]


def compare(module: str, outcomes: dict[str, Outcome], upstream: Reference) -> Comparison:
    """Compare a module's outcomes with Theano's and with the list."""
    listed = expected_failures(module)
    wanted = {t: o for t, o in outcomes.items() if t not in upstream.not_passed}
    found = [
        f"{test} {outcome.state}: {outcome.message}"
        for test, outcome in wanted.items()
        if outcome.state != "passed" and test not in listed
    ]
    for test, reason in listed.items():
        outcome = outcomes.get(test)
        if outcome is not None and outcome.state == "passed":
            found.append(f"{test} passed, but was expected to fail: {reason}")
        elif outcome is None and not reason.startswith("not run"):
            found.append(f"{test} was not run, but is listed as an expected failure")
        elif test in upstream.not_passed:
            found.append(f"{test} is listed, but Theano 1.0.5 does not pass it either")
    passed = sum(outcome.state == "passed" for outcome in wanted.values())
    missing = upstream.passed - len(set(wanted) | set(listed))
    # What cannot be imported, or skips itself, is one line for all its tests.
    whole = any(
        outcome.state == "uncollected" or test == module
        for test, outcome in outcomes.items()
        if test in listed
    )
    if missing > 0 and not whole:
        found.append(f"{module}: {missing} tests that Theano 1.0.5 passes are missing")
    return Comparison(passed, upstream.passed, len(listed), found)
