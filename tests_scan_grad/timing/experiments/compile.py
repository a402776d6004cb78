"""Experiment: a training step from its graph to its first result, in fresh processes."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.measuring.first_call import in_fresh_process
from tests_scan_grad.timing.programs.compile_networks import NETWORKS
from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours, pytensor_step
from tests_scan_grad.timing.programs.networks import Network
from tests_scan_grad.timing.reports.loops_report import columns, headed, notes, shortfalls, table

GOALS = {"pytensor": 1.0, "jax": 2.0}
COLD_GOAL_SECONDS = {"lstm-8": 6.0}
# at most so many times the compilation of a stack half as high
GROWTH_GOAL = 2.3
STACKS = (("lstm-4", "lstm-8"), ("lstm-8", "lstm-16"))

ENGINES: Mapping[str, Callable[[Network], Step]] = {
    "native": partial(ours, mode="NATIVE"),
    "jax": jax_step,
    "pytensor": partial(pytensor_step, mode="CVM"),
    "numba": partial(pytensor_step, mode="NUMBA"),
}
MODULES = {
    # what a first compilation imports
    "native": ("theano.tensor.nnet.nnet", "theano.all_rewrites", "theano.link.native.linker"),
    "pytensor": ("pytensor.tensor",),
    "numba": ("numba",),
}


def first_step(engine: str, name: str, path: Path) -> float:
    """Return the seconds from the graph to the first cost; save it, and the cost after it."""
    network = NETWORKS[name]()
    arrays = network.arrays()
    prepare(engine)
    start = time.perf_counter()
    step = ENGINES[engine](network)
    first = step(arrays)
    seconds = time.perf_counter() - start
    np.savez(path, np.asarray(first), np.asarray(step(arrays)))
    return seconds


def prepare(engine: str) -> None:
    """Import what an engine needs, before the clock starts."""
    if engine == "jax":
        import jax

        # JAX finds its devices when it is first used: that is part of its import.
        jax.local_devices(backend="cpu")
    else:
        for module in MODULES[engine]:
            importlib.import_module(module)


def problem(name: str, cold: bool) -> Problem:
    """Return the problem of one network, with empty caches on disk or with full ones."""
    engines = {
        engine: partial(in_fresh_process, engine, Sizes(rows=(name,)), cold, __name__)
        for engine in ENGINES
    }
    return Problem(
        label=f"{name}, {'cold' if cold else 'warm'}",
        results=("the first cost", "the second cost"),
        methods={"native": engines.pop("native")},
        peers=engines,
        goals=GOALS,
        goal_seconds=COLD_GOAL_SECONDS.get(name) if cold else None,
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the networks that are wanted, each with cold caches, then with warm ones."""
    for name in NETWORKS:
        if name in (sizes.rows or ()):
            yield from (problem(name, cold) for cold in (True, False))


def growth(run: dict[str, Any]) -> list[str]:
    """Return a line for each stack that takes more than its share next to one half as high."""
    seconds = {each["label"]: each["rows"][0]["seconds"] for each in run["problems"]}
    lines = []
    for caches in ("cold", "warm"):
        for low, high in STACKS:
            small, large = seconds.get(f"{low}, {caches}"), seconds.get(f"{high}, {caches}")
            if small and large and large / small > GROWTH_GOAL:
                lines.append(
                    f"{high}, {caches}: {large / small:.2f} times {low}, {GROWTH_GOAL} wanted"
                )
    return lines


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found = run["problems"]
    short = [line for each in found for line in shortfalls(each)]
    return [
        *table(found),
        *headed("Falls short:", [*short, *growth(run)]),
        "",
        "From the graph to the first result, gradient and compilation included, in a new process.",
        "cold: the caches on disk are empty; warm: another process did the same before.",
        *notes(columns(found)),
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
        "Times are the least of interleaved samples.",
    ]


EXPERIMENT = Experiment(
    name="compile",
    summary="training steps, from the graph to the first result",
    sizes=Sizes(rows=tuple(NETWORKS)),
    peers=("jax", "pytensor", "numba"),
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(first_step(asked["engine"], asked["sizes"]["rows"][0], Path(asked["path"]))))
