"""A gated network whose gradient vanishes, next to the same network with ordinary values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from tests_scan_grad.timing.experiment import Problem, Sizes
from tests_scan_grad.timing.experiments import gatedrnn
from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.differentiable_loop import METHODS, NATIVE, DifferentiableLoop

ORDINARY = "ordinary"

# The backward step multiplies by two weights in a row: 1e-40 is a denormal of float32.
VANISHING_SCALE = np.float32(1e-20)


def network(sizes: Sizes, scale: np.float32) -> DifferentiableLoop:
    """Return the gated network with its weights scaled, and a state that hardly changes."""
    arrays = recurrent.random_arrays(gatedrnn.CELL, sizes)
    # Without this the cotangent itself is soon zero, and nothing is slow to multiply by zero.
    arrays["zi"] -= np.float32(5)
    for name in gatedrnn.CELL.weights:
        arrays[name] *= scale
    return DifferentiableLoop(
        label="",
        dtype="float32",
        arrays=arrays,
        parameters=gatedrnn.CELL.weights,
        graph_cost=partial(recurrent.cost, gatedrnn.CELL),
        carried_cost=partial(recurrent.carried_cost, gatedrnn.CELL),
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield a problem for each engine of this project, with its own ordinary time as the peer."""
    vanishing, ordinary = network(sizes, VANISHING_SCALE), network(sizes, np.float32(1))
    for name, make in METHODS.items():
        yield Problem(
            label=f"vanishing gradient, {name}",
            results=("cost", *(f"d{weight}" for weight in vanishing.parameters)),
            methods={
                name: partial(make, vanishing, True),
                ORDINARY: partial(make, ordinary, True),
            },
            peers={},
            unlike=frozenset({ORDINARY}),
            goals={ORDINARY: 1.1} if name == NATIVE else {},
        )
