"""Experiment: single operations and their gradients, next to other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import geometric_mean
from typing import Any

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.measuring.operation_blocks import block_in_process
from tests_scan_grad.timing.measuring.rounds import Rounds
from tests_scan_grad.timing.programs.operations import OPERATIONS
from tests_scan_grad.timing.reports.report import aligned, ratio

PEERS = ("torch", "jax", "numpy")
# of a quick run
SMALL_DIM = 100
# of the better peer's time
WANTED = 1.25


def program(rounds: Rounds, name: str) -> Program:
    """Return one operation, or its gradient."""
    return rounds.program(lambda found: found[name]["size"], lambda found: found[name]["seconds"])


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield each operation, and its gradient."""
    names = [name for name in OPERATIONS if name in (sizes.rows or ())]
    dim = SMALL_DIM if sizes.quick or sizes.dim is None else sizes.dim
    dtype = str(sizes.dtype)
    rounds = {
        engine: Rounds(partial(block_in_process, engine, names, dim * dim, dtype))
        for engine in ("native", *PEERS)
    }
    for name in names:
        both = [name, f"{name}, gradient"] if OPERATIONS[name].smooth else [name]
        for label in both:
            peers = PEERS if label == name else PEERS[:2]
            yield Problem(
                label=label,
                results=("the mean size of the elements",),
                methods={"native": partial(program, rounds["native"], label)},
                peers={peer: partial(program, rounds[peer], label) for peer in peers},
                dtype=dtype,
            )


def to_the_better(problem: dict[str, Any]) -> float | None:
    """Return the first method's time over that of the better of PyTorch and JAX."""
    seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
    peers = [seconds[name] for name in PEERS[:2] if name in seconds]
    return seconds["native"] / min(peers) if peers else None


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, worst rows first, and the mean of the ratios."""
    found, sizes = run["problems"], run["sizes"]
    dim = SMALL_DIM if sizes["quick"] else sizes["dim"]
    found = sorted(found, key=lambda problem: -(to_the_better(problem) or 0))
    lines = [["us", "this", *run["peers"], "to the better"]]
    for problem in found:
        seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
        times = [seconds.get(name) for name in ("native", *run["peers"])]
        shown = ["-" if one is None else f"{1e6 * one:.0f}" for one in times]
        lines.append([problem["label"], *shown, ratio(to_the_better(problem))])
    ratios = [one for problem in found if (one := to_the_better(problem)) is not None]
    said = []
    if ratios:
        above = sum(one > WANTED for one in ratios)
        said = [
            "",
            f"Geometric mean {geometric_mean(ratios):.2f}; {above} of {len(ratios)} above {WANTED}.",
        ]
    return [
        *aligned(lines),
        *said,
        "",
        f"A matrix, or two, of {dim:,} x {dim:,} elements; on two threads.",
        "gradient: by the first matrix, of the sum of the cubes of the result.",
        "to the better: the time over that of the better of PyTorch (eager) and JAX (jit).",
        "Each library runs in its own processes, in turn.",
    ]


EXPERIMENT = Experiment(
    name="operations",
    summary="single operations and their gradients",
    sizes=Sizes(dim=1000, rows=tuple(OPERATIONS), dtype="float32", quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)
