"""Time several programs so that they can be compared: interleaved, many times."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from tests_scan_grad.timing.experiment import Program

# A sample shorter than this is mostly the clock's and the interpreter's noise.
SHORTEST_SAMPLE_SECONDS = 0.005

# Worker threads of the program before go on spinning for a while and take a core, those of
# OpenBLAS for 0.1 s: a sample begins after so long a pause in which the process computed nothing.
PAUSE_SECONDS = 0.02
RESTING_SECONDS = 0.002
LONGEST_PAUSE_SECONDS = 1.0

# A program that is many times slower than the others must not take their time.
LONGEST_SECONDS = 30.0


def calls_in_sample(program: Program) -> int:
    """Return how many calls make a sample long enough."""
    if program.own_clock is not None:
        return 1
    return math.ceil(SHORTEST_SAMPLE_SECONDS / max(sample(program, 1), 1e-7))


def sample(program: Program, calls: int) -> float:
    """Return the seconds that one call takes, as the mean of so many calls."""
    if program.own_clock is not None:
        return program.own_clock()
    start = time.perf_counter()
    for _ in range(calls):
        program.call()
    return (time.perf_counter() - start) / calls


def wait_until_threads_rest() -> None:
    """Return when no thread of this process computes any more, or after the longest pause."""
    end = time.monotonic() + LONGEST_PAUSE_SECONDS
    while time.monotonic() < end:
        before = time.process_time()
        time.sleep(PAUSE_SECONDS)
        if time.process_time() - before < RESTING_SECONDS:
            return


def interleaved(programs: Mapping[str, Program], repeats: int) -> dict[str, list[float]]:
    """Return so many samples of each program, fewer of a very slow one, in seconds a call.

    The programs take turns, and each round begins with another one, so that what else the
    machine does falls on all of them alike. Every program has been called before.
    """
    names = list(programs)
    samples: dict[str, list[float]] = {name: [] for name in names}
    calls = {name: calls_in_sample(program) for name, program in programs.items()}
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if calls[name] * sum(samples[name]) > LONGEST_SECONDS:
                continue
            wait_until_threads_rest()
            samples[name].append(sample(programs[name], calls[name]))
    return samples
