"""PyTensor's own tests, and its ancestor's, with our loop, our gradient and our modes.

The tests are fetched when they are run and kept in the user's cache folder. With ``--heavy`` all run
without a C++ compiler; with ``--all-upstream`` in the default modes, too. Where
GitHub cannot be reached, the variable ``PYTENSOR_ARCHIVE`` may name a copy of the archive of
PyTensor's release. Tests that are expected to fail are listed, with reasons, in the folder
``expected_failures``.
"""

import pytest

from tests_scan_grad.upstream.adapted_copy import adapted, renamed
from tests_scan_grad.upstream.expected import differences, expected_failures
from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.run import (
    AGAINST_OURS,
    AGAINST_OURS_IN_PYTHON,
    AS_THEY_ARE,
    AS_THEY_ARE_IN_PYTHON,
    Outcome,
    Way,
    run_suite,
)
from tests_scan_grad.upstream.suites import AESARA_SCAN, PYTENSOR_GRADIENT, PYTENSOR_SCAN, Suite

QUICK = (
    (PYTENSOR_SCAN, AS_THEY_ARE_IN_PYTHON),
    (PYTENSOR_SCAN, AGAINST_OURS_IN_PYTHON),
    (PYTENSOR_GRADIENT, AS_THEY_ARE_IN_PYTHON),
    (PYTENSOR_GRADIENT, AGAINST_OURS_IN_PYTHON),
)
SLOW = (
    (AESARA_SCAN, AGAINST_OURS_IN_PYTHON),
    (PYTENSOR_SCAN, AS_THEY_ARE),
    (PYTENSOR_SCAN, AGAINST_OURS),
    (PYTENSOR_GRADIENT, AS_THEY_ARE),
    (PYTENSOR_GRADIENT, AGAINST_OURS),
    (AESARA_SCAN, AGAINST_OURS),
)


def assert_as_expected(suite: Suite, way: Way) -> None:
    try:
        outcomes = run_suite(suite, way)
    except NotFetchedError as error:
        pytest.skip(str(error))
    found = differences(outcomes, expected_failures(suite, way))
    assert not found, "\n".join(found)


def name_of(value: Suite | Way) -> str:
    return value.name


@pytest.mark.heavy
@pytest.mark.parametrize(("suite", "way"), QUICK, ids=name_of)
def test_upstream(suite: Suite, way: Way):
    assert_as_expected(suite, way)


@pytest.mark.parametrize(("suite", "way"), SLOW, ids=name_of)
def test_upstream_compiled(suite: Suite, way: Way, request: pytest.FixtureRequest):
    if not request.config.getoption("--all-upstream", default=False):
        pytest.skip("runs with --all-upstream")
    assert_as_expected(suite, way)


def test_each_imported_name_is_bound_to_ours():
    text = (
        "import pytensor.tensor as pt\nfrom pytensor import (\n    scan as s,\n    grad,\n)\nx = 1"
    )
    lines = adapted(text).split("\n")
    assert lines[0].endswith("; pt = _ours(pt)")
    assert lines[4].endswith("; s = _ours(s); grad = _ours(grad)")
    assert lines[5] == "x = 1"


def test_a_name_that_moved_is_imported_from_where_it_is():
    text = "from parent.graph.basic import (\n    Apply,\n    clone_replace as c,\n)\nx = 1"
    lines = renamed(text, "parent").split("\n")
    assert lines[0] == (
        "from pytensor.graph.basic import Apply as Apply; "
        "from pytensor.graph.replace import clone_replace as c"
    )
    assert lines[4] == "x = 1"


def test_what_differs_from_the_list_is_reported():
    outcomes = {
        "f::fails": Outcome("failed", "why"),
        "f::passes": Outcome("passed", ""),
        "f::known": Outcome("failed", "why"),
    }
    found = differences(outcomes, {"f::passes": "r", "f::known": "r", "f::gone": "r"})
    assert [line.split()[0] for line in found] == ["f::fails", "f::passes", "f::gone"]
