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
from tests_scan_grad.timing.programs.curvature import (
    CURVATURES,
    Curvature,
    jax_functions,
    our_functions,
)
from tests_scan_grad.timing.programs.growing_programs import GROWING
from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours, pytensor_step
from tests_scan_grad.timing.programs.networks import Network
from tests_scan_grad.timing.reports.loops_report import columns, headed, notes, shortfalls, table

GOALS = {"pytensor": 1.0, "jax": 2.0}
COLD_GOAL_SECONDS = {"lstm-8": 6.0, "curvature": 12.0}
# what is wanted of those that are large, beside JAX
GROWING_GOALS = {"residual-80": 1.2, "equations-80": 0.8, "tanh-800": 0.8, "scalar": 1.0}
# at most so many times the compilation of one half as large
GROWTH_GOALS = {
    ("lstm-4", "lstm-8"): 2.3,
    ("lstm-8", "lstm-16"): 2.3,
    ("residual-80", "residual-160"): 2.2,
}

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


# these are compiled by this package and by JAX only: others take minutes
SURFACES: Mapping[str, Callable[[Curvature], Step]] = {
    "native": partial(our_functions, mode="NATIVE"),
    "jax": jax_functions,
}


def first_step(engine: str, name: str, path: Path) -> float:
    """Return the seconds from the graph to the first cost; save it, and the cost after it."""
    programs: Mapping[str, Callable[[], Any]] = {**NETWORKS, **GROWING, **CURVATURES}
    program = programs[name]()
    arrays = program.arrays()
    prepare(engine)
    start = time.perf_counter()
    step = (SURFACES if name in CURVATURES else ENGINES)[engine](program)
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


def growing_problem(name: str) -> Problem:
    """Return the problem of a program that comes in several sizes, or of a surface's curvature."""
    sizes = Sizes(rows=(name,))
    wanted = GROWING_GOALS.get(name)
    return Problem(
        label=f"{name}, cold",
        results=("the first results", "the second results"),
        methods={"native": partial(in_fresh_process, "native", sizes, True, __name__)},
        peers={"jax": partial(in_fresh_process, "jax", sizes, True, __name__)},
        dtype="float64" if name in CURVATURES else "float32",
        goals={} if wanted is None else {"jax": wanted},
        goal_seconds=COLD_GOAL_SECONDS.get(name),
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the networks that are wanted, each with cold caches, then with warm ones.

    After them come programs that are compiled with cold caches only.
    """
    for name in NETWORKS:
        if name in (sizes.rows or ()):
            yield from (problem(name, cold) for cold in (True, False))
    for name in (*GROWING, *CURVATURES):
        if name in (sizes.rows or ()):
            yield growing_problem(name)


def growth(run: dict[str, Any]) -> list[str]:
    """Return a line for each program that takes more than its share next to one half as large."""
    seconds = {each["label"]: each["rows"][0]["seconds"] for each in run["problems"]}
    lines = []
    for caches in ("cold", "warm"):
        for (low, high), wanted in GROWTH_GOALS.items():
            small, large = seconds.get(f"{low}, {caches}"), seconds.get(f"{high}, {caches}")
            if small and large and large / small > wanted:
                lines.append(f"{high}, {caches}: {large / small:.2f} times {low}, {wanted} wanted")
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
    sizes=Sizes(rows=(*NETWORKS, *GROWING, *CURVATURES)),
    peers=("jax", "pytensor", "numba"),
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(first_step(asked["engine"], asked["sizes"]["rows"][0], Path(asked["path"]))))
