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
from tests_scan_grad.upstream.side_by_side import BESIDE_PYMC, OPERATORS, Pair, compare, compared
from tests_scan_grad.upstream.suites import PYTENSOR_OPERATORS


def name_of(pair: Pair) -> str:
    return pair.suite.name


@pytest.mark.timeout(0)
@pytest.mark.parametrize("pair", [*OPERATORS, BESIDE_PYMC], ids=name_of)
def test_what_passes_in_one_way_passes_in_the_other(pair: Pair, request: pytest.FixtureRequest):
    if not request.config.getoption("--all-upstream", default=False):
        pytest.skip("runs with --all-upstream")
    if pair is not BESIDE_PYMC and RELEASE == "3.0":
        pytest.skip("the files are those of PyTensor 3.3's tests; 3.0 has others")
    try:
        comparison = compare(pair)
    except NotFetchedError as error:
        pytest.skip(str(error))
    assert not comparison.differences, "\n".join(comparison.differences)
    share = 1.0 if pair is BESIDE_PYMC else 0.95
    assert comparison.passed >= share * comparison.of


def test_lists_of_operators_are_read():
    for suite in PYTENSOR_OPERATORS:
        for path in LISTS.glob(f"{suite.name}_*.txt"):
            assert all(test.startswith(suite.files) for test in read_list(path))


def test_what_fell_and_is_not_listed_is_reported():
    passed, failed = Outcome("passed", ""), Outcome("failed", "why")
    first = {"falls": passed, "known": passed, "risen": passed, "never": failed, "gone": passed}
    second = {"falls": failed, "known": failed, "risen": passed, "never": failed}
    comparison = compared(first, second, {"known": "r", "risen": "r", "nowhere": "r"})
    assert (comparison.passed, comparison.of) == (1, 4)
    assert [line.split()[0] for line in comparison.differences] == [
        "falls",
        "gone",
        "nowhere",
        "risen",
    ]
