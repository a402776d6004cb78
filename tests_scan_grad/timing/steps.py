"""Experiment: whole training steps of usual sizes, each library in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .experiment import Experiment, Problem, Program, Sizes, TimingError
from .loops_report import columns, headed, notes, shortfalls, table
from .network_programs import Step, jax_step, ours
from .networks import Network
from .own_process import environment
from .step_networks import NETWORKS
from .step_torch import torch_step

# of the time of PyTorch's eager mode
GOALS = {
    "lstm": 0.8,
    **dict.fromkeys(("perceptron-20", "perceptron-500", "perceptron-5000"), 0.9),
    "embedding": 0.7,
    "language": 0.8,
    "attention": 0.8,
}
# A process calls its step for so long, and at least so often.
BLOCK_SECONDS, LEAST_CALLS = 2.0, 5

ENGINES: Mapping[str, Callable[[str, Network], Step]] = {
    "native": lambda name, network: ours(network),
    "torch": torch_step,
    "torch.compile": partial(torch_step, compiled=True),
    "jax": lambda name, network: jax_step(network),
}
PEERS = tuple(engine for engine in ENGINES if engine != "native")


def block(engine: str, name: str, seconds: float) -> dict[str, Any]:
    """Return the costs of the first steps, and the least time of a step."""
    network = NETWORKS[name]()
    arrays = network.arrays()
    step = ENGINES[engine](name, network)
    costs = [float(np.asarray(step(arrays))) for _ in range(3)]
    least, calls, begin = float("inf"), 0, time.perf_counter()
    while calls < LEAST_CALLS or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        step(arrays)
        least = min(least, time.perf_counter() - start)
        calls += 1
    return {"costs": costs, "seconds": least}


def block_in_process(engine: str, name: str, seconds: float) -> dict[str, Any]:
    """Return what `block` finds in a process of its own."""
    asked = json.dumps({"engine": engine, "name": name, "seconds": seconds})
    done = subprocess.run(
        [sys.executable, "-m", __name__, asked],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        raise TimingError(f"{name} by {engine} failed: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def program(engine: str, name: str, seconds: float) -> Program:
    """Return a program whose call, and whose time, are those of a process."""
    run = partial(block_in_process, engine, name, seconds)
    return Program(
        call=lambda: run()["costs"],
        to_numpy=lambda costs: [np.array(cost) for cost in costs],
        own_clock=lambda: run()["seconds"],
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the steps that are wanted."""
    seconds = 0.0 if sizes.quick else BLOCK_SECONDS
    for name in NETWORKS:
        if name in (sizes.rows or ()):
            goals = {"torch": GOALS[name]} if name in GOALS else {}
            yield Problem(
                label=name,
                results=("the first cost", "the second cost", "the third cost"),
                methods={"native": partial(program, "native", name, seconds)},
                peers={peer: partial(program, peer, name, seconds) for peer in PEERS},
                goals=goals,
            )


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found: Sequence[dict[str, Any]] = run["problems"]
    return [
        *table(found),
        *headed("Falls short:", [line for each in found for line in shortfalls(each)]),
        "",
        "One step of training: the cost, its gradient and the new parameters, in float32.",
        *notes(columns(found)),
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
        "Each sample is the least time of a process that runs one library alone.",
    ]


EXPERIMENT = Experiment(
    name="steps",
    summary="training steps of usual sizes",
    sizes=Sizes(rows=tuple(NETWORKS), quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(block(given["engine"], given["name"], given["seconds"])))
