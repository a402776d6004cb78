"""Run a few lines of Python in their own process, with their own flags."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run_python(code: str, theanorc: Path | None = None, timeout: float = 600, **environment: str):
    """Return the completed process; its output is text. The caller's flags do not reach it.

    Parameters
    ----------
    code : str
        What to run.
    theanorc : Path, optional
        The file of flags; by default there is none.
    timeout : float, optional
        After so many seconds the process is killed.
    **environment
        Variables to add, THEANO_FLAGS for instance.
    """
    return _run(["-c", code], theanorc, timeout, environment)


def run_module(name: str, *arguments: str, timeout: float = 600, **environment: str):
    """The same of a module of the package, with its own arguments."""
    return _run(["-m", name, *arguments], None, timeout, environment)


def _run(arguments: list[str], theanorc: Path | None, timeout: float, environment: dict[str, str]):
    inherited = {name: value for name, value in os.environ.items() if name != "THEANO_FLAGS"}
    inherited["THEANORC"] = str(theanorc or os.devnull)
    inherited["PYTHONPATH"] = str(ROOT)
    return subprocess.run(
        [sys.executable, *arguments],
        env=inherited | environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def printed_by(
    code: str, theanorc: Path | None = None, timeout: float = 600, **environment: str
) -> list[str]:
    """Return the lines that the code prints; it must end well."""
    done = run_python(code, theanorc, timeout, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
