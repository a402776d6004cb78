"""Run Theano's tests, each module in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests_scan_grad.upstream.fetch import source_distribution
from tests_scan_grad.upstream.run import ROOT, Outcome

VERSION = "1.0.5"

REMOVED_MODULES = Path(__file__).parent / "removed_modules"

# Draws that a test compares with; they lie beside the generator's module
SAMPLES = "theano/sandbox/samples_MRG31k3p_12_7_5.txt"

PLUGINS = ("tests_scan_grad.upstream.theano_tests.plugin", "tests_scan_grad.upstream.part_of_tests")

# Seconds that one test may take, and one module
LIMIT, LIMIT_OF_MODULE = 300, 3600


def fetched() -> Path:
    """The folder with Theano's tests, each at its path in Theano's source distribution."""
    return source_distribution("theano", VERSION, wanted=is_test)


def is_test(path: str) -> bool:
    """Return whether a file of the distribution belongs to the tests, except those for GPUs."""
    folders = Path(path).parts[:-1]
    if path == SAMPLES:
        return True
    return folders[:1] == ("theano",) and "tests" in folders and "gpuarray" not in folders


def run_module(
    module: str,
    options: tuple[str, ...] = (),
    deselected: Sequence[str] = (),
    folder: Path | None = None,
    flags: str = "",
    plugins: Sequence[str] = (),
    one_in: int = 1,
) -> dict[str, Outcome]:
    """Run the tests of a module.

    Parameters
    ----------
    module
        Path of the module in the distribution.
    options
        Further options of pytest; with some, pytest's output is shown.
    deselected
        Tests that are not run.
    folder
        Where the tests are; by default those but for GPUs.
    flags
        Theano's flags.
    plugins
        Further plugins of pytest.
    one_in
        Of how many tests one is run.

    Returns
    -------
    dict
        The outcome of each test by its id; of the module, if it could not be imported.

    Raises
    ------
    NotFetchedError
        When the tests cannot be had.
    """
    folder = folder or fetched()
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "outcomes"
        command = pytest_command(sys.executable, folder, lines)
        for plugin in (*PLUGINS, *plugins):
            command += ["-p", plugin]
        command += [f"--one-in={one_in}", *(f"--deselect={test}" for test in deselected)]
        command += [*options, str(folder / module)]
        ended = _run(command, scratch, quiet=not options, flags=flags)
        outcomes = read_outcomes(lines)
    if ended:
        outcomes[module] = Outcome("failed", ended)
    return outcomes


def _run(command: list[str], folder: str, quiet: bool, flags: str) -> str:
    """Run pytest; returns how it ended if not as it should."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_environment(flags),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            text=True,
            timeout=LIMIT_OF_MODULE,
        )
    except subprocess.TimeoutExpired:
        return f"the process was ended after {LIMIT_OF_MODULE} seconds"
    # all passed, some failed, some could not be collected, none was collected
    if done.returncode in (0, 1, 2, 5):
        return ""
    return f"the process ended with {done.returncode}: {(done.stdout or '')[-1000:]}"


def pytest_command(python: str, folder: Path, lines: Path) -> list[str]:
    """The command, but for the modules to run, that writes outcomes to a file."""
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(folder), "--continue-on-collection-errors"]
    command += [f"--timeout={LIMIT}", "--theano-tests", str(folder), "--outcome-lines", str(lines)]
    return command


def read_outcomes(lines: Path) -> dict[str, Outcome]:
    """The outcomes that the plugin ``recorder`` wrote."""
    written = lines.read_text().splitlines() if lines.exists() else []
    return {test: Outcome(state, message) for test, state, message in map(json.loads, written)}


def _environment(flags: str) -> dict[str, str]:
    dropped = ("THEANO_FLAGS", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    path = os.pathsep.join([str(ROOT), str(REMOVED_MODULES)])
    # as in Theano, and so that each run rewrites what it tests
    flags = ",".join(filter(None, ["cache_optimizations=False", flags]))
    return kept | {"PYTHONPATH": path, "THEANORC": os.devnull, "THEANO_FLAGS": flags}
