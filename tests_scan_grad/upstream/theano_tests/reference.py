"""Tests that Theano 1.0.5 itself passes on Python 3.8, recorded with that Python.

``python -m tests_scan_grad.upstream.theano_tests.reference PYTHON`` runs each module with the
Python at that path, which has Theano 1.0.5, NumPy 1.19, SciPy, nose, parameterized, pytest and
pytest-timeout, and writes the file again.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests_scan_grad.upstream.theano_tests.run import fetched, pytest_command, read_outcomes
from tests_scan_grad.upstream.theano_tests.tiers import all_modules

RECORD = Path(__file__).parent / "reference.json"

PLUGINS = ("collection", "recorder")


@dataclass(frozen=True)
class Reference:
    """Results of a module's tests with Theano 1.0.5.

    Attributes
    ----------
    passed
        How many pass.
    not_passed
        Test id -> how it ends instead.
    """

    passed: int
    not_passed: dict[str, str]


def reference() -> dict[str, Reference]:
    """Module -> what Theano 1.0.5 passes of it."""
    return {module: Reference(**entry) for module, entry in json.loads(RECORD.read_text()).items()}


def record(python: str) -> None:
    """Run all modules with the given Python and write what passed."""
    entries = {module: summary(_run(python, module)) for module in all_modules()}
    RECORD.write_text(json.dumps(entries, indent=1) + "\n")


def summary(outcomes: dict) -> dict:
    """The entry of the record for a module."""
    states = {test: outcome.state for test, outcome in sorted(outcomes.items())}
    not_passed = {test: state for test, state in states.items() if state != "passed"}
    return {"passed": len(states) - len(not_passed), "not_passed": not_passed}


def _run(python: str, module: str) -> dict:
    folder = fetched()
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "outcomes"
        command = pytest_command(python, folder, lines)
        command += [word for plugin in PLUGINS for word in ("-p", plugin)]
        subprocess.run(
            [*command, str(folder / module)],
            cwd=scratch,
            # Only the plugins: neither this theano nor the stand-ins for what was removed.
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent), "THEANORC": os.devnull},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return read_outcomes(lines)


if __name__ == "__main__":
    record(sys.argv[1])
