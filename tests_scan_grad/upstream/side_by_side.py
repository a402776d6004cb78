"""The same tests run in two ways: those that pass in the first should pass in the second.

``python -m tests_scan_grad.upstream.side_by_side [SUITE ...]`` prints how many do.
"""

import sys
from dataclasses import dataclass

from tests_scan_grad.upstream.expected import expected_failures
from tests_scan_grad.upstream.run import (
    AGAINST_OURS,
    AS_THEY_ARE,
    WITHOUT_THEANO,
    Outcome,
    Way,
    run_suite,
)
from tests_scan_grad.upstream.suites import PYMC, PYTENSOR_OPERATORS, PYTENSOR_SCAN, Suite

NOT_RUN = Outcome("failed", "was not run")


@dataclass(frozen=True)
class Pair:
    """A suite and the two ways in which it is run."""

    suite: Suite
    first: Way
    second: Way


OPERATORS = tuple(
    Pair(suite, AS_THEY_ARE, AGAINST_OURS) for suite in (PYTENSOR_SCAN, *PYTENSOR_OPERATORS)
)
BESIDE_PYMC = Pair(PYMC, WITHOUT_THEANO, AS_THEY_ARE)


@dataclass(frozen=True)
class Comparison:
    """The number of tests that pass in the second way, of those that pass in the first.

    Attributes
    ----------
    passed, of
        The counts.
    differences
        What differs from the list of expected failures, one line each.
    """

    passed: int
    of: int
    differences: list[str]


def compare(pair: Pair) -> Comparison:
    """Run a suite in its two ways.

    Raises
    ------
    NotFetchedError
        When the tests cannot be had.
    """
    first = run_suite(pair.suite, pair.first)
    second = run_suite(pair.suite, pair.second)
    return compared(first, second, expected_failures(pair.suite, pair.second))


def compared(
    first: dict[str, Outcome], second: dict[str, Outcome], reasons: dict[str, str]
) -> Comparison:
    """Compare the outcomes of two ways; what is listed may fail in the second."""
    wanted = {test: second.get(test, NOT_RUN) for test, o in first.items() if o.state == "passed"}
    found = [
        f"{test} {outcome.state}: {outcome.message}"
        for test, outcome in wanted.items()
        if outcome.state != "passed" and test not in reasons
    ]
    for test, reason in reasons.items():
        if test not in first:
            found.append(f"{test} was not run, but is listed as an expected failure")
        elif test in wanted and wanted[test].state == "passed":
            found.append(f"{test} passed, but was expected to fail: {reason}")
    passed = sum(outcome.state == "passed" for outcome in wanted.values())
    return Comparison(passed, len(wanted), found)


def main(names: list[str]) -> int:
    """Print the table; the exit status says whether all is as expected."""
    failed = False
    rows = ["| tests | pass | of |", "|---|---|---|"]
    for pair in (*OPERATORS, BESIDE_PYMC):
        if names and pair.suite.name not in names:
            continue
        comparison = compare(pair)
        print(*comparison.differences, sep="\n", flush=True)
        failed = failed or bool(comparison.differences)
        rows.append(f"| {pair.suite.name} | {comparison.passed} | {comparison.of} |")
    print(*rows, sep="\n")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
