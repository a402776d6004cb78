"""Experiment: whole loops and their gradients, in this project's engines and in others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.experiments import gatedrnn
from tests_scan_grad.timing.measuring import first_call
from tests_scan_grad.timing.peers import torch_programs
from tests_scan_grad.timing.programs import denormals, recurrent, scalar_loops
from tests_scan_grad.timing.programs.differentiable_loop import DifferentiableLoop, problems
from tests_scan_grad.timing.reports.loops_report import body

# A quick run's loops are so many times shorter.
QUICK = 5


def gated(sizes: Sizes, goals: Mapping[str, float]) -> DifferentiableLoop:
    """Return the gated network of the experiment gatedrnn, at these sizes."""
    cell = gatedrnn.CELL
    return DifferentiableLoop(
        label=f"gated RNN, {sizes.steps} steps, {sizes.batch} x {sizes.dim}",
        dtype=sizes.dtype,
        arrays=recurrent.random_arrays(cell, sizes),
        parameters=cell.weights,
        graph_cost=partial(recurrent.cost, cell),
        carried_cost=partial(recurrent.carried_cost, cell),
        goals=goals,
        others={"gru": torch_programs.gru},
    )


LARGE = Sizes(batch=80, steps=50, dim=1000, dtype="float32")
SMALL = Sizes(steps=200, dtype="float32")

# The size of each row's gated network, and what is wanted of its time along with others'.
GATED: Mapping[str, tuple[Sizes, Mapping[str, float]]] = {
    "gated-80x1000": (LARGE, {"torch": 0.75, "jax": 0.65}),
    "gated-1x64": (replace(SMALL, batch=1, dim=64), {"jax": 0.12}),
    "gated-1x256": (replace(SMALL, batch=1, dim=256), {}),
    "gated-16x128": (replace(SMALL, batch=16, dim=128), {"jax": 0.6}),
    "gated-16x256": (replace(SMALL, batch=16, dim=256), {"jax": 0.4}),
    "gated-32x512": (replace(SMALL, batch=32, dim=512), {"jax": 0.6}),
}
SCALAR: Mapping[str, tuple[Callable[[int], DifferentiableLoop], int]] = {
    "ar2": (scalar_loops.ar2, 100_000),
    "sir": (scalar_loops.sir, 10_000),
}
OTHER: Mapping[str, tuple[Callable[[Sizes], Iterator[Problem]], Sizes]] = {
    "denormals": (denormals.problems, replace(SMALL, batch=16, dim=256)),
    "first-call": (first_call.problems, LARGE),
}
ROWS = (*GATED, *SCALAR, *OTHER)


def shortened(steps: int, quick: bool | None) -> int:
    """Return the steps of a loop in a run that may be quick."""
    return max(1, steps // QUICK) if quick else steps


def problems_of_row(name: str, quick: bool | None) -> Iterator[Problem]:
    """Yield the problems of a row."""
    if name in SCALAR:
        make, steps = SCALAR[name]
        yield from problems(make(shortened(steps, quick)))
    elif name in GATED:
        sizes, goals = GATED[name]
        yield from problems(gated(replace(sizes, steps=shortened(sizes.steps, quick)), goals))
    else:
        make_problems, sizes = OTHER[name]
        yield from make_problems(replace(sizes, steps=shortened(sizes.steps, quick)))


def all_problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the problems of the rows that are wanted, in the table's order."""
    for name in ROWS:
        if name in sizes.rows:
            yield from problems_of_row(name, sizes.quick)


EXPERIMENT = Experiment(
    name="loops",
    summary="loops and their gradients, in each engine",
    sizes=Sizes(rows=ROWS, quick=False),
    peers=("torch", "gru", "jax", "pytensor", "numba"),
    problems=all_problems,
    dissected=False,
    body=body,
)
