"""Experiment: random numbers of NumPy's generators, next to NumPy itself and Numba."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.reports.report import aligned, ratio

SEED = 11
# the samples of one call, or of each of the steps of a loop
IN_A_STEP = 10
STEPS = 1000
COUNTS = {f"{IN_A_STEP} in a step": (IN_A_STEP, STEPS), "10^3": (1000, None), "10^6": (10**6, None)}


@dataclass(frozen=True)
class Distribution:
    """A method of NumPy's generators, and the parameters that it is given."""

    method: str
    parameters: tuple[float | int, ...]


DISTRIBUTIONS = {
    "uniform": Distribution("uniform", (-1.0, 2.0)),
    "normal": Distribution("normal", (0.5, 2.0)),
    "lognormal": Distribution("lognormal", (0.0, 0.5)),
    "exponential": Distribution("exponential", (2.0,)),
    "gamma": Distribution("gamma", (2.5, 1.5)),
    "beta": Distribution("beta", (2.0, 3.0)),
    "weibull": Distribution("weibull", (1.5,)),
    "laplace": Distribution("laplace", (0.5, 2.0)),
    "poisson": Distribution("poisson", (4.0,)),
    "binomial": Distribution("binomial", (20, 0.3)),
    "geometric": Distribution("geometric", (0.2,)),
    "integers": Distribution("integers", (-5, 90)),
}


def program(make: Callable[[], Callable[[], Any]]) -> Program:
    """Return a program whose result is that of its first call, since each call draws on."""
    begin = time.perf_counter()
    call = make()
    first = np.array(call())
    return Program(call, lambda _: [first], time.perf_counter() - begin)


def native(distribution: Distribution, count: int, steps: int | None) -> Callable[[], Any]:
    """Draw by a function of the native engine, in a loop where there are steps."""
    import pytensor
    import pytensor.tensor as pt

    import theano

    generator = pytensor.shared(np.random.default_rng(SEED))
    variable = getattr(pt.random, distribution.method)
    # PyTensor's gamma takes a rate in the third place
    names = ({}, {"scale": distribution.parameters[-1]})[distribution.method == "gamma"]
    given = distribution.parameters[: len(distribution.parameters) - len(names)]

    def draws(rng: Any) -> Any:
        return variable(*given, **names, size=(count,), rng=rng, return_next_rng=True)

    if steps is None:
        last, drawn = draws(generator)
    else:
        last, drawn = pytensor.scan(
            draws, outputs_info=[generator, None], n_steps=steps, return_updates=False
        )
    return theano.function([], drawn, updates=[(generator, last)], mode="NATIVE")


def by_numpy(distribution: Distribution, count: int, steps: int | None) -> Callable[[], Any]:
    """Draw by NumPy from Python."""
    method = getattr(np.random.default_rng(SEED), distribution.method)
    once = partial(method, *distribution.parameters, size=count)
    return once if steps is None else lambda: [once() for _ in range(steps)]


def by_numba(distribution: Distribution, count: int, steps: int | None) -> Callable[[], Any]:
    """Draw by Numba's compiled methods of NumPy's generators."""
    import numba

    given = ", ".join(map(str, distribution.parameters))
    # integers have no scalar form that is drawn by the bits that a vector takes
    text = f"""
def once(generator):
    return generator.{distribution.method}({given}, size={count})

def several(generator):
    drawn = np.empty(({steps}, {count}))
    for step in range({steps}):
        drawn[step] = generator.{distribution.method}({given}, size={count})
    return drawn
"""
    scope: dict[str, Any] = {"np": np}
    exec(text, scope)
    compiled = numba.njit(scope["once" if steps is None else "several"])
    return partial(compiled, np.random.default_rng(SEED))


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield each distribution at each number of samples."""
    ways = {"native": native, "numpy": by_numpy, "numba": by_numba}
    for name, distribution in DISTRIBUTIONS.items():
        if name not in (sizes.rows or ()):
            continue
        for label, (count, steps) in COUNTS.items():
            if sizes.quick and count > 1000:
                continue
            made = {
                way: partial(program, partial(make, distribution, count, steps))
                for way, make in ways.items()
            }
            yield Problem(
                label=f"{name}, {label}",
                results=("the first draws",),
                methods={"native": made.pop("native")},
                peers=made,
                dtype="float64",
                steps=steps,
            )


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, and of each number of samples the mean of the ratios to each peer."""
    peers = ("numpy", "numba")
    lines = [["ns a draw", "this", *peers, *(f"to {peer}" for peer in peers)]]
    ratios: dict[tuple[str, str], list[float]] = {}
    for problem in run["problems"]:
        distribution, label = problem["label"].split(", ")
        count, steps = COUNTS[label]
        seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
        found = problem["rows"][0]["ratios"]
        for peer in peers:
            if peer in found:
                ratios.setdefault((label, peer), []).append(found[peer])
        per_draw = 1e9 / count / (steps or 1)
        lines.append(
            [
                f"{distribution}, {label}",
                *(
                    f"{seconds[name] * per_draw:.2f}" if name in seconds else "-"
                    for name in ("native", *peers)
                ),
                *(ratio(found.get(peer)) for peer in peers),
            ]
        )
    said = [
        f"{label}, to {peer}: geometric mean {geometric_mean(of):.2f}, at most {max(of):.2f}"
        for (label, peer), of in ratios.items()
    ]
    return [*aligned(lines), "", *said, "", f"in a step: {STEPS} steps of a loop."]


EXPERIMENT = Experiment(
    name="samples",
    summary="random numbers of NumPy's generators",
    sizes=Sizes(rows=tuple(DISTRIBUTIONS), quick=False),
    peers=("numpy", "numba"),
    problems=problems,
    dissected=False,
    body=body,
)
