"""Results of the processes of one library, one process for each round of all that is timed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Program, TimingError
from tests_scan_grad.timing.measuring.own_process import environment

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def answer_of_process(module: str, asked: Mapping[str, Any], threads: int, what: str) -> Any:
    """Return what a module prints as JSON in a process whose libraries have so many threads.

    Raises
    ------
    TimingError
        If the process fails; the message says of ``what``, and has the end of its errors.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, json.dumps(asked)],
        env={**environment(), **dict.fromkeys(THREADS, str(threads))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise TimingError(f"{what} failed:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Rounds:
    """The rounds of one library, each of which runs when it is first asked for."""

    def __init__(self, run: Callable[[], dict[str, Any]]):
        self._run = run
        self._found: list[dict[str, Any]] = []

    def round(self, number: int) -> dict[str, Any]:
        """Return what one of the rounds found."""
        while len(self._found) <= number:
            self._found.append(self._run())
        return self._found[number]

    def program(
        self, result: Callable[[dict[str, Any]], Any], seconds: Callable[[dict[str, Any]], float]
    ) -> Program:
        """Return a program whose result is that of the first round, and whose times are those of all."""
        numbers = iter(range(10**9))
        return Program(
            call=lambda: result(self.round(0)),
            to_numpy=lambda found: [] if found is None else [np.array(found)],
            own_clock=lambda: seconds(self.round(next(numbers))),
        )
