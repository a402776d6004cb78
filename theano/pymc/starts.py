"""Whether a sampler can start: the density at starting points of a model, before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pymc.exceptions import SamplingError

from theano.pymc.modes import mode
from theano.pymc.points import Points

# as many as PyMC's own samplers try
TRIALS = 10


def starting_points(first_point: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Points at which chains may start, by names."""
    return [first_point(seed) for seed in range(TRIALS)]


def check_starts(
    density: Callable[[np.ndarray], Sequence[Any]],
    points: Points,
    starts: Sequence[dict[str, Any]],
    model: Any = None,
) -> None:
    """Raise an error unless the density is finite at one of the starting points.

    Parameters
    ----------
    density
        Of a vector, the density first.
    points, starts
        Where variables lie in the vector, and the points.
    model : optional
        Asked for PyMC's own error, which says which variable it is.

    Raises
    ------
    pymc.exceptions.SamplingError
        If it is infinite or nan at all of them.
    """
    if any(np.isfinite(density(points.flat(start))[0]) for start in starts):
        return
    if model is not None:
        model.check_start_vals(dict(starts[0]), mode=mode)
    raise SamplingError(
        "Initial evaluation of model at starting point failed!\n"
        f"Starting values:\n{starts[0]}\n\n"
        f"The log density is not finite there, nor at {len(starts) - 1} others."
    )
