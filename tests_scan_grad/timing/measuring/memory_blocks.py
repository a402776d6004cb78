"""The peak of memory of training steps, in processes that run one library alone on two threads.

Counted is what the calls add at their peak to what is resident after a small call: results, saved
values and work space. Inputs, parameters and compiled code are there before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Program
from tests_scan_grad.timing.measuring.own_process import peak_of
from tests_scan_grad.timing.programs.network_programs import Step

THREADS = 2
# A process calls its step so often, and more often for so long.
LEAST_CALLS, BLOCK_SECONDS = 3, 2.0


def limit_threads() -> None:
    """Let this process use as many processors as there are to be threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def block(step: Step, small: Any, arrays: Any, seconds: float) -> dict[str, Any]:
    """Return the costs before and after an update, the least time of a call, and the peak."""
    costs = [float(np.asarray(step(small)))]
    times: list[float] = []

    def calls() -> None:
        begin = time.perf_counter()
        while len(times) < LEAST_CALLS or time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            cost = step(arrays)
            times.append(time.perf_counter() - start)
            costs.append(float(np.asarray(cost)))

    peak, _ = peak_of(calls)
    return {"costs": costs[:3], "seconds": min(times), "peak_bytes": peak}


@dataclass
class Blocks:
    """Processes of one library, each of which measures the same networks.

    Parameters
    ----------
    run
        Starts one; returns what it finds, by the networks' names.
    single
        Whether one is enough, as for a try.
    """

    run: Callable[[], dict[str, dict[str, Any]]]
    single: bool = False
    found: list[dict[str, dict[str, Any]]] = field(default_factory=list)

    def next(self, name: str) -> dict[str, Any]:
        """Return what another process finds of a network, where there may be another."""
        if not (self.single and self.found):
            self.found.append(self.run())
        return self.found[-1][name]

    def program(self, name: str) -> Program:
        """Return a program whose call, time and peak are those of the processes."""
        return Program(
            call=lambda: self.next(name)["costs"],
            to_numpy=lambda costs: [np.array(cost) for cost in costs],
            own_clock=lambda: self.next(name)["seconds"],
            # a system that is short of memory takes back pages of code meanwhile
            own_peak=lambda: max(each[name]["peak_bytes"] for each in self.found),
        )
