"""Options of the test run."""

from __future__ import annotations

import signal
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, settings

import theano
from tests_scan_grad.heavy_tests import HEAVY, ONE_CASE_IN
from theano.pytensor_internals.functions.c_code import COp


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--generated-loops",
        type=int,
        default=40,
        metavar="N",
        help="how many random loops to generate in all (by default %(default)s); "
        "with --hypothesis-seed, other ones than in each run",
    )
    parser.addoption(
        "--differential-programs",
        type=int,
        default=40,
        metavar="N",
        help="how many programs to compare with unrolled NumPy (by default %(default)s)",
    )
    parser.addoption(
        "--differential-seed",
        type=int,
        default=0,
        metavar="S",
        help="the first of them (by default %(default)s)",
    )
    parser.addoption(
        "--flag-pairs",
        type=int,
        default=10,
        metavar="N",
        help="how many random pairs of flags to try (by default %(default)s)",
    )
    parser.addoption(
        "--damaged-files",
        type=int,
        default=6,
        metavar="N",
        help="how many files of caches to damage (by default %(default)s)",
    )
    parser.addoption(
        "--killed-processes",
        type=int,
        default=3,
        metavar="N",
        help="how many processes that compile to kill (by default %(default)s)",
    )
    parser.addoption(
        "--compilations",
        type=int,
        default=15,
        metavar="N",
        help="how many functions to compile while memory is watched (by default %(default)s)",
    )
    parser.addoption(
        "--heavy",
        action="store_true",
        help="run what takes long, too: the tests of tests_scan_grad/heavy_tests.py, and many of"
        " Theano's and PyTensor's own",
    )
    parser.addoption(
        "--all-flags",
        action="store_true",
        help="run every flag through the environment, and the modes that run slowly",
    )
    parser.addoption(
        "--timing",
        action="store_true",
        help="run what fails where other programs keep the processors busy, too",
    )
    parser.addoption(
        "--sanitizers",
        action="store_true",
        help="run the runtime, generated loops and segments also compiled with the sanitizers of"
        " threads, addresses and undefined behaviour; takes long",
    )
    parser.addoption(
        "--cross",
        action="store_true",
        help="make and check the wheels for all platforms, too; needs build and ziglang",
    )
    parser.addoption(
        "--qemu",
        action="store_true",
        help="run the runtime and generated C for aarch64, too, by qemu-aarch64",
    )
    parser.addoption(
        "--wine",
        action="store_true",
        help="run the runtime and generated C for Windows, too, by Wine; needs ziglang",
    )
    parser.addoption(
        "--all-upstream",
        action="store_true",
        help="run all of Theano's tests but those for GPUs, PyTensor's and Aesara's tests of loops in"
        " the default modes, too, not in Python only, PyTensor's of its operators with these modes,"
        " and PyMC's with and without this package",
    )
    parser.addoption(
        "--write-screenshots",
        action="store_true",
        help="put the screenshots of pages that tests take into doc/pictures",
    )
    parser.addoption(
        "--rewrite-seeds",
        default="0:1",
        metavar="FROM:TO",
        help="seeds of the graphs on which rewrites are compared (by default %(default)s)",
    )
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the files of tests_scan_grad/loop_rewrites/golden again, to be read as a diff",
    )


@pytest.fixture(scope="session")
def with_sanitizers(request: pytest.FixtureRequest) -> None:
    """Skip what compiles with sanitizers, where it is not asked for."""
    if not request.config.getoption("--sanitizers"):
        pytest.skip("--sanitizers runs it")


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations whose C PyTensor compiles, or reads from its cache, during a test."""
    seen = []
    make = COp.make_c_thunk

    def noted(op, *arguments):
        thunk = make(op, *arguments)
        seen.append(str(op))
        return thunk

    monkeypatch.setattr(COp, "make_c_thunk", noted)
    return seen


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unmatched = _mark_heavy(config, items)
    for item in items:
        for tier in ("heavy", "timing", "all_flags"):
            option = "--" + tier.replace("_", "-")
            if item.get_closest_marker(tier) and not config.getoption(option):
                item.add_marker(pytest.mark.skip(reason=f"{option} runs it"))
    _refuse_names_of_no_test(config, items, unmatched)


def _mark_heavy(config: pytest.Config, items: list[pytest.Item]) -> set[str]:
    """Mark tests that take long; return the beginnings of names that no test has."""
    found: dict[str, list[pytest.Item]] = {name: [] for name in (*HEAVY, *ONE_CASE_IN)}
    for item in items:
        name = item.nodeid.removeprefix("tests_scan_grad/")
        for beginning, cases in found.items():
            if name.startswith(beginning):
                cases.append(item)
    asked_for = any("[" in argument for argument in config.args)
    for beginning, cases in found.items():
        if beginning in ONE_CASE_IN:
            # the same in each run, whatever the order of parameters
            cases = sorted(cases, key=lambda item: crc32(item.nodeid.encode()))
            cases = [] if asked_for else cases[-(-len(cases) // ONE_CASE_IN[beginning]) :]
        for item in cases:
            item.add_marker(pytest.mark.heavy)
    return {beginning for beginning, cases in found.items() if not cases}


def _refuse_names_of_no_test(
    config: pytest.Config, items: list[pytest.Item], unmatched: set[str]
) -> None:
    """Whole files were collected: a heavy test of one of them that is not there was renamed."""
    if any("::" in argument for argument in config.args):
        return
    files = {item.nodeid.removeprefix("tests_scan_grad/").split("::")[0] for item in items}
    gone = [name for name in unmatched if name.split("::")[0] in files]
    if gone:
        raise pytest.UsageError(f"tests_scan_grad/heavy_tests.py names tests that are not: {gone}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    # each half of the tests has one of the tiers of compiled code, in each run the same
    theano.config.native.quick = crc32(item.nodeid.encode()) % 2 == 0


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # so begins what a shell runs in the background; tests interrupt themselves
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "heavy: takes long; runs with --heavy only")
    config.addinivalue_line("markers", "timing: needs idle processors; runs with --timing only")
    config.addinivalue_line("markers", "all_flags: compiles for long; runs with --all-flags only")
    config.addinivalue_line("markers", "short_segments: looks at the C of short programs")
    config.addinivalue_line("markers", "long_segments: its C is written as that of long programs")
    # Each run rewrites what it tests, and leaves nothing for the next.
    theano.config.cache_optimizations = False
    # A rewrite that fails fails the test: users get the graph without it, and a warning.
    theano.config.on_opt_error = "raise"
    # What passes of the native engine make is looked at after each of them.
    theano.config.native.verify = True
    # The same loops in each run, unless a seed asks for others.
    seeded = config.getoption("--hypothesis-seed", default=None) is not None
    settings.register_profile(
        "generated_loops",
        max_examples=config.getoption("--generated-loops"),
        derandomize=not seeded,
        # no shrinking: the loops are small, and a failing one is written out in full
        phases=[Phase.generate],
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
