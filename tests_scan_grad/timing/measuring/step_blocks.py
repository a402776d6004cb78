"""Training steps that are timed in their own processes, each of which runs one library alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Problem, Program, TimingError
from tests_scan_grad.timing.measuring.own_process import environment, peak_of
from tests_scan_grad.timing.programs.network_programs import Step
from tests_scan_grad.timing.reports.loops_report import columns, headed, notes, shortfalls, table

# A process calls its step for so long, and at least so often.
BLOCK_SECONDS, LEAST_CALLS = 2.0, 5

# takes the names of a library and of a network; returns a step and what it is called with
Made = Callable[[str, str], tuple[Step, dict[str, np.ndarray]]]


def block(made: Made, engine: str, name: str, seconds: float) -> dict[str, Any]:
    """Return the costs of the first steps, the least time of one, and the peak of the first one's memory."""
    step, arrays = made(engine, name)
    costs: list[float] = []

    def call() -> None:
        costs.append(float(np.asarray(step(arrays))))

    peak, _ = peak_of(call)
    call()
    call()
    least, calls, begin = float("inf"), 0, time.perf_counter()
    while calls < LEAST_CALLS or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step(arrays)
        least = min(least, time.perf_counter() - start)
        calls += 1
    return {"costs": costs, "seconds": least, "peak_bytes": peak}


def answer(made: Made) -> None:
    """Print what `block` finds, as the process that `block_in_process` starts."""
    given = json.loads(sys.argv[1])
    print(json.dumps(block(made, given["engine"], given["name"], given["seconds"])))


def block_in_process(
    module: str, engine: str, name: str, cores: int | None = None, **asked: Any
) -> dict[str, Any]:
    """Return what a block finds in its own process, which runs a module that answers.

    Parameters
    ----------
    cores
        How many processors the process may use, the first ones; None: all.
    """
    request = json.dumps({"engine": engine, "name": name, **asked})
    command = [sys.executable, "-m", module, request]
    given = environment()
    if cores is not None:
        given |= {"OMP_NUM_THREADS": str(cores)}
        if shutil.which("taskset"):
            mine = sorted(os.sched_getaffinity(0))[:cores]
            command = ["taskset", "-c", ",".join(map(str, mine)), *command]
    done = subprocess.run(
        command,
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise TimingError(f"{name} by {engine} failed: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def program(
    module: str, engine: str, name: str, seconds: float, cores: int | None = None
) -> Program:
    """Return a program whose call, and whose time, are those of a process."""
    run = partial(block_in_process, module, engine, name, cores, seconds=seconds)
    return Program(
        call=lambda: run()["costs"],
        to_numpy=lambda costs: [np.array(cost) for cost in costs],
        own_clock=lambda: run()["seconds"],
    )


def step_problems(
    module: str,
    names: Sequence[str],
    peers: Sequence[str],
    goals: Mapping[str, float],
    quick: bool,
) -> Iterator[Problem]:
    """Yield the steps of these names, which a module makes; goals are parts of PyTorch's time."""
    seconds = 0.0 if quick else BLOCK_SECONDS
    for name in names:
        yield Problem(
            label=name,
            results=("the first cost", "the second cost", "the third cost"),
            methods={"native": partial(program, module, "native", name, seconds)},
            peers={peer: partial(program, module, peer, name, seconds) for peer in peers},
            goals={"torch": goals[name]} if name in goals else {},
        )


def body_of(computed: str, run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found: Sequence[dict[str, Any]] = run["problems"]
    return [
        *table(found),
        *headed("Falls short:", [line for each in found for line in shortfalls(each)]),
        "",
        computed,
        *notes(columns(found)),
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
        "Each sample is the least time of a process that runs one library alone.",
    ]
