"""Theano 1.0.5's own tests against this ``theano``, in its default mode.

The tests are fetched when they are run and kept in the user's cache folder. By default the modules
of the quick tier are run and parts of those of images, with ``--heavy`` many, with
``--all-upstream`` all of them but those for GPUs. Each module is run in a process of its own, as many at once as there are processors. What Theano 1.0.5 itself
passes is recorded in ``theano_tests/reference.json``; what of it is expected to fail here is
listed, with reasons, in the folder ``expected_failures``.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests_scan_grad.upstream.expected import differences
from tests_scan_grad.upstream.fetch import NotFetchedError
from tests_scan_grad.upstream.run import Outcome
from tests_scan_grad.upstream.theano_tests.compare import compare, expected_failures, not_run
from tests_scan_grad.upstream.theano_tests.reference import Reference, reference
from tests_scan_grad.upstream.theano_tests.run import fetched, run_module
from tests_scan_grad.upstream.theano_tests.tiers import HEAVY, PARTS, QUICK
from theano.printing import why_no_pydot

UPSTREAM = reference()

# the longest first, so that none is left to run alone at the end
ORDER = [
    *(pytest.param(module, marks=pytest.mark.heavy) for module in HEAVY),
    *QUICK,
    *(module for module in UPSTREAM if module not in (*HEAVY, *QUICK)),
]

Runs = dict[str, Future[dict[str, Outcome]]]


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """The runs of the chosen modules, all begun at once."""
    try:
        fetched()
    except NotFetchedError as error:
        pytest.skip(str(error))
    everything = request.config.getoption("--all-upstream", default=False)
    chosen = [
        item.callspec.params["module"]
        for item in request.session.items
        if _is_ours(item) and item.get_closest_marker("skip") is None
    ]
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {
        module: pool.submit(run_module, module, deselected=not_run(module))
        for module in chosen
        if module in (*HEAVY, *QUICK) or everything
    }
    pool.shutdown(cancel_futures=True)


def _is_ours(item: pytest.Item) -> bool:
    return getattr(item, "function", None) is test_module


# Each test of a module has a limit of its own.
@pytest.mark.timeout(0)
@pytest.mark.parametrize("module", ORDER)
def test_module(module: str, runs: Runs):
    if module not in runs:
        pytest.skip("runs with --all-upstream")
    if module.startswith("theano/d3viz/") and (missing := why_no_pydot()):
        pytest.skip(missing)
    found = compare(module, runs[module].result(), UPSTREAM[module]).differences
    assert not found, "\n".join(found)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("module", PARTS)
def test_part_of_module(module: str, request: pytest.FixtureRequest):
    if request.config.getoption("--all-upstream", default=False):
        pytest.skip("all of it is run")
    try:
        fetched()
    except NotFetchedError as error:
        pytest.skip(str(error))
    outcomes = run_module(module, deselected=not_run(module), one_in=PARTS[module])
    assert any(outcome.state == "passed" for outcome in outcomes.values())
    reasons = {t: why for t, why in expected_failures(module).items() if t in outcomes}
    found = differences(outcomes, reasons)
    assert not found, "\n".join(found)


def test_lists_name_tests_of_their_modules():
    for module, upstream in UPSTREAM.items():
        for test in expected_failures(module):
            assert test.startswith(module)
            assert test not in upstream.not_passed


def test_differences_from_the_list_are_reported(monkeypatch: pytest.MonkeyPatch):
    listed = {"m.py::known": "why", "m.py::passes": "why", "m.py::gone": "why"}
    monkeypatch.setattr(
        "tests_scan_grad.upstream.theano_tests.compare.expected_failures", lambda _: listed
    )
    outcomes = {
        "m.py::fails": Outcome("failed", "why"),
        "m.py::skips": Outcome("skipped", "why"),
        "m.py::known": Outcome("failed", "why"),
        "m.py::passes": Outcome("passed", ""),
        "m.py::fails_upstream": Outcome("failed", "why"),
    }
    upstream = Reference(passed=6, not_passed={"m.py::fails_upstream": "failed"})
    comparison = compare("m.py", outcomes, upstream)
    assert (comparison.passed, comparison.upstream, comparison.listed) == (1, 6, 3)
    assert [line.split()[0] for line in comparison.differences] == [
        "m.py::fails",
        "m.py::skips",
        "m.py::passes",
        "m.py::gone",
        "m.py:",
    ]
