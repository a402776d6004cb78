"""Starts of chains, and whether a sampler can start there: the density and its gradient at starting points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from pymc.exceptions import SamplingError
from pymc.initial_point import make_initial_point_fn
from pymc.pytensorf import find_rng_nodes, reseed_rngs

from theano.pymc.modes import mode
from theano.pymc.points import Points

# as many as PyMC's own samplers try
TRIALS = 10


class InitialPoint:
    """The point at which a chain starts, which a seed decides; any thread may call it.

    Parameters
    ----------
    function
        What PyMC compiles: without inputs, the values of the free variables.
    names
        The names of the value variables, in the order of the results.
    """

    def __init__(self, function: Any, names: Sequence[str]):
        self._function, self._names, self._lock = function, tuple(names), Lock()
        self._generators = find_rng_nodes(function.maker.fgraph.outputs)

    @classmethod
    def of(
        cls, model: Any, overrides: dict[Any, Any], strategy: str, jittered: Iterable[Any] = ()
    ) -> InitialPoint:
        """Compile that of a model, with settings of PyMC's ``make_initial_point_fn``."""
        names = [model.rvs_to_values[free].name for free in model.free_RVs]
        seeded = make_initial_point_fn(
            model=model,
            overrides=overrides,
            default_strategy=strategy,
            jitter_rvs=set(jittered),
            return_transformed=True,
        )
        # the compiled function, which can be pickled; what seeds it cannot
        return cls(seeded.__wrapped__, names)  # type: ignore[attr-defined]

    def by_name(self, seed: Any = None) -> dict[str, Any]:
        """Return the values of the point by the names of the variables."""
        with self._lock:
            reseed_rngs(self._generators, seed)
            return dict(zip(self._names, self._function(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as the function's graph, which is compiled again where it is loaded."""
        return InitialPoint, (self._function, self._names)


class FlatInitialPoint:
    """The same as one vector, as nutpie asks for it."""

    def __init__(self, by_name: InitialPoint, points: Points):
        self._by_name, self._points = by_name, points

    def __call__(self, seed: object = None) -> np.ndarray:
        """Return the vector of the point of a seed."""
        return self._points.flat(self._by_name.by_name(seed))


def starting_points(first_point: InitialPoint) -> list[dict[str, Any]]:
    """Return points at which chains may start, by names."""
    return [first_point.by_name(seed) for seed in range(TRIALS)]


def is_finite(density: Callable[[np.ndarray], Sequence[Any]], point: np.ndarray) -> bool:
    """Return whether a density and its gradient are finite at a point, and no operation fails."""
    try:
        value, gradient = density(point)
    except ValueError:
        return False
    return bool(np.isfinite(value) and np.isfinite(gradient).all())


def finite_start(
    density: Callable[[np.ndarray], Sequence[Any]],
    points: Points,
    starts: Sequence[dict[str, Any]],
    model: Any = None,
    in_python: Callable[[np.ndarray], Any] | None = None,
) -> np.ndarray:
    """Return the first of the starting points at which the density and its gradient are finite.

    Parameters
    ----------
    density
        Of a vector, the density and the gradient.
    points, starts
        Where variables lie in the vector, and the points.
    model : optional
        Asked for PyMC's own error, which names the variable whose density is not finite.
    in_python : optional
        The density as Python calls it, whose errors name the operation and the shapes.

    Returns
    -------
    numpy.ndarray
        Its vector.

    Raises
    ------
    pymc.exceptions.SamplingError
        If one of them is infinite or nan at all of the points.
    ValueError
        If an operation fails, and they are finite at no other point.
    """
    without_gradient: list[tuple[dict[str, Any], np.ndarray]] = []
    failed: list[tuple[np.ndarray, ValueError]] = []
    for start in starts:
        point = points.flat(start)
        try:
            value, gradient = density(point)
        except ValueError as error:
            # a sampler rejects such a point
            failed.append((point, error))
            continue
        if not np.isfinite(value):
            continue
        if np.isfinite(gradient).all():
            return point
        without_gradient.append((start, gradient))
    if failed:
        _raise_named(*failed[0], in_python)
    if without_gradient:
        start, gradient = without_gradient[0]
        reason = (
            f"The log density is finite there, but its gradient is not: {_odd(points, gradient)}"
        )
    else:
        start, reason = starts[0], "The log density is not finite there"
        if model is not None:
            model.check_start_vals(dict(start), mode=mode)
    raise SamplingError(
        "Initial evaluation of model at starting point failed!\n"
        f"Starting values:\n{start}\n\n"
        f"{reason}, nor at {len(starts) - 1} others."
    )


def _raise_named(
    point: np.ndarray, error: ValueError, in_python: Callable[[np.ndarray], Any] | None
) -> None:
    """Raise the error of a point; of a check in C what Python says there, with operation and shapes."""
    if in_python is not None and str(error).startswith("what does not hold"):
        try:
            in_python(point)
        except ValueError as named:
            raise named from error
    raise error


def _odd(points: Points, gradient: np.ndarray) -> str:
    """Return the variables by which a gradient is not finite, and what it is by one element of each."""
    named = []
    for name, by_variable in points.by_name(gradient).items():
        wrong = np.argwhere(~np.isfinite(by_variable))
        if len(wrong):
            at = tuple(map(int, wrong[0]))
            which = f"{name}[{', '.join(map(str, at))}]" if at else name
            named.append(f"{float(by_variable[at])} by {which}")
    return ", ".join(named)
