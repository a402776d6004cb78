"""Run tests of another project in a process of their own and see how each ended."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests_scan_grad.upstream.adapted_copy import write_adapted_copy
from tests_scan_grad.upstream.suites import Suite

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Way:
    """A way to run the tests.

    Attributes
    ----------
    name
        Name of the way and of its lists of expected failures.
    to_ours
        Whether PyTensor's names in the tests are bound to ours.
    flags
        PyTensor's flags, beside those of the environment.
    lists
        Names of further ways, whose expected failures are this one's, too.
    with_theano
        Whether theano is imported before the tests.
    """

    name: str
    to_ours: bool
    flags: str = ""
    lists: tuple[str, ...] = ()
    with_theano: bool = True


WITHOUT_THEANO = Way("without_theano", to_ours=False, with_theano=False)
AS_THEY_ARE = Way("as_they_are", to_ours=False)
AS_THEY_ARE_IN_PYTHON = Way("as_they_are_in_python", to_ours=False, flags="cxx=,linker=py")
AGAINST_OURS = Way("against_ours", to_ours=True)
# Without a C++ compiler, Theano's mode runs the operations in Python: nothing is compiled.
AGAINST_OURS_IN_PYTHON = Way(
    "against_ours_in_python", to_ours=True, flags="cxx=", lists=("against_ours",)
)


@dataclass(frozen=True)
class Outcome:
    """Result of a test (passed, failed, skipped or xfailed), and its message."""

    state: str
    message: str


def run_suite(suite: Suite, way: Way) -> dict[str, Outcome]:
    """Run the tests of a suite.

    Parameters
    ----------
    suite
        What to run.
    way
        How to run it.

    Returns
    -------
    dict
        The outcome of each test by its id.

    Raises
    ------
    NotFetchedError
        When the tests cannot be had.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "upstream"
        write_adapted_copy(suite.fetch(), folder, suite.ancestor, to_ours=way.to_ours)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n")
        outcomes = Path(scratch) / "outcomes.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--continue-on-collection-errors"]
        if way.with_theano:
            command += ["-p", "tests_scan_grad.upstream.import_theano"]
        command += ["-p", "tests_scan_grad.upstream.record_outcomes", "--outcomes", str(outcomes)]
        done = subprocess.run(
            [*command, *suite.options, *suite.files],
            cwd=folder,
            env=_environment(way),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if not outcomes.exists():
            raise RuntimeError(f"pytest did not run:\n{done.stdout[-4000:]}")
        recorded = json.loads(outcomes.read_text())
    if not recorded:
        raise RuntimeError(f"no test was run:\n{done.stdout[-4000:]}")
    return {name: Outcome(*values) for name, values in recorded.items()}


def _environment(way: Way) -> dict[str, str]:
    dropped = ("THEANO_FLAGS", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    flags = ",".join(filter(None, [os.environ.get("PYTENSOR_FLAGS"), way.flags]))
    return kept | {"PYTHONPATH": str(ROOT), "THEANORC": os.devnull, "PYTENSOR_FLAGS": flags}
