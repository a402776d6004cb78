"""PyTensor's tests of its operators with this package's modes, and PyMC's tests beside it.

All run with ``--all-upstream``. PyTensor's are run in its own default mode, and with its names
bound to ours: what passes with PyTensor's passes with ours, or is listed with a reason in the
folder ``expected_failures``. PyMC's are run with and without theano imported before.
The variables ``PYTENSOR_ARCHIVE`` and ``PYMC_ARCHIVE`` may name copies of the archives.
"""

import pytest

from tests_scan_grad.upstream.expected import LISTS, RELEASE, read_list
from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.run import Outcome
from tests_scan_grad.upstream.side_by_side import (
    BESIDE_PYMC,
    OPERATORS,
    Comparison,
    Pair,
    compare,
    compared,
)
from tests_scan_grad.upstream.suites import PYTENSOR_OPERATORS


def name_of(pair: Pair) -> str:
    return pair.suite.name


def comparison_of(pair: Pair, request: pytest.FixtureRequest) -> Comparison:
    if not request.config.getoption("--all-upstream", default=False):
        pytest.skip("runs with --all-upstream")
    try:
        return compare(pair)
    except NotFetchedError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def of_operators() -> list[Comparison]:
    """Provide the list of the comparisons made so far."""
    return []


@pytest.mark.timeout(0)
@pytest.mark.parametrize("pair", OPERATORS, ids=name_of)
def test_operators_pass_with_our_modes(
    pair: Pair, of_operators: list[Comparison], request: pytest.FixtureRequest
):
    if RELEASE == "3.0":
        pytest.skip("the files are those of PyTensor 3.3's tests; 3.0 has others")
    comparison = comparison_of(pair, request)
    of_operators.append(comparison)
    assert not comparison.differences, "\n".join(comparison.differences)


def test_19_in_20_of_operators_pass_with_our_modes(of_operators: list[Comparison]):
    if len(of_operators) < len(OPERATORS):
        pytest.skip("not all of them were run")
    passed, of = sum(c.passed for c in of_operators), sum(c.of for c in of_operators)
    assert 20 * passed >= 19 * of


@pytest.mark.timeout(0)
def test_pymc_passes_beside_theano(request: pytest.FixtureRequest):
    comparison = comparison_of(BESIDE_PYMC, request)
    assert not comparison.differences, "\n".join(comparison.differences)


def test_lists_of_operators_name_tests_of_theirs():
    for suite in PYTENSOR_OPERATORS:
        for path in LISTS.glob(f"{suite.name}_*.txt"):
            assert all(test.startswith(suite.files) for test in read_list(path))


def test_what_fails_in_the_second_way_only_is_reported():
    passed, failed = Outcome("passed", ""), Outcome("failed", "why")
    first = {"falls": passed, "known": passed, "rises": passed, "never": failed, "gone": passed}
    second = {"falls": failed, "known": failed, "rises": passed, "never": failed}
    comparison = compared(first, second, {"known": "r", "rises": "r", "nowhere": "r"})
    assert (comparison.passed, comparison.of) == (1, 4)
    told = {line.partition(":")[0].split()[0] for line in comparison.differences}
    assert told == {"falls", "gone", "rises", "nowhere"}
