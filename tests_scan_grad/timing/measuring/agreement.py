"""Programs are only timed after their results agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests_scan_grad.timing.experiment import TOLERANCE, Disagreement, Problem


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference, relative to the largest expected value."""
    if found.shape != expected.shape:
        return float("inf")
    largest = float(np.abs(expected).max(initial=0.0))
    difference = float(np.abs(found - expected).max(initial=0.0))
    return difference / largest if largest else difference


def check(problem: Problem, results: Mapping[str, Sequence[np.ndarray]]) -> dict[str, float]:
    """Return how far the results of each program that is compared are from the first one's.

    Raises
    ------
    Disagreement
        If one is further away than the dtype's tolerance, or is not a number.
    """
    (reference, expected), *_ = results.items()
    errors = {}
    for name in [name for name in results if name not in problem.unlike]:
        for result, array, right in zip(problem.results, results[name], expected, strict=True):
            error = relative_error(array, right)
            if not error <= TOLERANCE[problem.dtype]:
                raise Disagreement(
                    f"{problem.label}: {result} of {name!r} differs from that of {reference!r} "
                    f"by {error:.3g}, relative to its largest value; "
                    f"{TOLERANCE[problem.dtype]:g} is allowed in {problem.dtype}"
                )
            errors[name] = max(errors.get(name, 0.0), error)
    return errors
