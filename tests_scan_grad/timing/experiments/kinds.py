"""Experiment: loops of many kinds of steps and their gradients, next to JAX's scan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import geometric_mean
from typing import Any

import theano
from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.measuring.kind_blocks import SIZES, block_in_process
from tests_scan_grad.timing.measuring.rounds import Rounds
from tests_scan_grad.timing.programs.kinds_of_steps import KINDS
from tests_scan_grad.timing.reports.report import aligned, ratio


def program(rounds: Rounds, row: str) -> Program:
    """Return the loop of one row, or its gradient."""
    return rounds.program(lambda found: found[row]["summary"], lambda found: found[row]["seconds"])


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the loop of each kind and size, and its gradient.

    The XLA engine is given NumPy's arrays, as users have them, and JAX next to it is, too.
    """
    jax = "jax_from_numpy" if theano.config.device.startswith("xla") else "jax"
    for name in KINDS:
        if name not in (sizes.rows or ()):
            continue
        rounds = {
            engine: Rounds(partial(block_in_process, engine, name, bool(sizes.quick)))
            for engine in ("native", jax)
        }
        for size, (dtype, steps) in SIZES.items():
            for row in (size, f"{size}, gradient"):
                yield Problem(
                    label=f"{name}, {row}",
                    results=("the means of the result",),
                    methods={"native": partial(program, rounds["native"], row)},
                    peers={"jax": partial(program, rounds[jax], row)},
                    dtype=dtype,
                    steps=steps,
                )


def to_jax(problem: dict[str, Any]) -> float | None:
    """Return the ratio to JAX's time."""
    return problem["rows"][0]["ratios"].get("jax")


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, worst rows first, and the mean of the ratios."""
    lines = [["us", "this", "JAX", "ratio"]]
    for problem in sorted(run["problems"], key=lambda problem: -(to_jax(problem) or 0)):
        times = [f"{1e6 * row['seconds']:.0f}" for row in problem["rows"]]
        lines.append([problem["label"], *times, *["-"] * (2 - len(times)), ratio(to_jax(problem))])
    ratios = [one for problem in run["problems"] if (one := to_jax(problem)) is not None]
    said = []
    if ratios:
        above = sum(one > 1 for one in ratios)
        said = [
            "",
            f"Geometric mean {geometric_mean(ratios):.2f}; {above} of {len(ratios)} above 1.",
        ]
    return [
        *aligned(lines),
        *said,
        "",
        "small: 1,000 steps of few numbers, float64; large: 100 steps of 64 x 256, or of 64 states, float32.",
        "gradient: by the first state, the sequence and the parameter, of a weighted sum of the last states.",
        "Each library runs in its own processes, in turn, on two threads.",
    ]


EXPERIMENT = Experiment(
    name="kinds",
    summary="loops of many kinds of steps and their gradients",
    sizes=Sizes(rows=tuple(KINDS), quick=False),
    peers=("jax",),
    problems=problems,
    dissected=False,
    body=body,
)
