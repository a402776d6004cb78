"""Errors of a program's results, and whether they are larger than they have to be."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from tests_scan_grad.stability.exact import exact
from tests_scan_grad.stability.running import arrays_of

# an exact result that cancels leaves what is beyond the digits that exact values are computed with
ZERO = mpmath.mpf("1e-700")
# times the error of the better reference; where that has lost two digits, its last is luck
FACTOR, FACTOR_WITHOUT_DIGITS = 4, 64
ROUNDING = 64


# a change of a result beyond it, by a rounding of a leaf, is a jump
LARGEST_CHANGE = 1e-3


def exact_results(
    program: dict[str, Any], arrays: dict[str, np.ndarray] | None = None
) -> list[Any]:
    """Return what a program gives in exact arithmetic, as arrays of mpmath's floats.

    Parameters
    ----------
    program
        As `drawing.drawn` makes it.
    arrays
        Values of its leaves, in place of those that were drawn.
    """
    arrays = arrays_of(program) if arrays is None else arrays
    if program["gives"] == "value":
        return [exact(program["expression"], arrays, program["wrt"])[0]]
    cost = f"(lambda e: {program['cost']})({program['expression']})"
    value, gradient = exact(cost, arrays, program["wrt"])
    return [gradient] if program["gives"] == "gradient" else [value, gradient]


def narrowest(program: dict[str, Any]) -> str:
    """Return the narrowest dtype of floats that a program computes in."""
    dtypes = {program["floatX"], *(leaf["dtype"] for leaf in program["leaves"])}
    return "float32" if "float32" in dtypes else "float64"


def errors(
    results: list[list[float]], right: list[Any], dtype: str, least: float = 0.0
) -> list[float | None]:
    """Return the relative error of each number; None where no float of the dtype is right.

    Numbers below ``least`` are compared as if they were as large.
    """
    found: list[float | None] = []
    limits = np.finfo(dtype)
    finite = [abs(v) for each in right for v in np.ravel(each) if mpmath.isfinite(v)]
    largest = float(min(max([mpmath.mpf(1), *finite]), mpmath.mpf(1e300)))
    for numbers, exact_numbers in zip(results, right, strict=True):
        for number, true in zip(numbers, np.ravel(exact_numbers), strict=True):
            if mpmath.isnan(true) or abs(true) > 0.99 * float(limits.max):
                found.append(None)
            elif not np.isfinite(number):
                found.append(np.inf)
            else:
                found.append(_error(number, true, max(1e3 * float(limits.tiny), least), largest))
    return found


def _error(number: float, true: Any, least: float, largest: float) -> float:
    if abs(true) < ZERO:
        return abs(number) / largest
    return float(abs(mpmath.mpf(number) - true) / max(abs(true), least))


def sensitivity(program: dict[str, Any], right: list[Any], dtype: str) -> list[float]:
    """Return how far each number moves, relative to itself, where each leaf of floats is rounded.

    No way of computing it can be expected to do better; where it jumps, it is not sensitive.
    """
    total = np.zeros(sum(np.size(each) for each in right))
    for name, array in (arrays := arrays_of(program)).items():
        if array.dtype.kind != "f":
            continue
        moved = arrays | {name: array.astype("float64") * (1 + float(np.finfo(dtype).eps))}
        changes = [
            float(abs(a - b) / abs(b)) if mpmath.isfinite(a) and mpmath.isfinite(b) and b else 0.0
            for new, old in zip(exact_results(program, moved), right, strict=True)
            for a, b in zip(np.ravel(new), np.ravel(old), strict=True)
        ]
        total += [change if change < LARGEST_CHANGE else 0.0 for change in changes]
    return total.tolist()


def worse(found: list[float | None], references: list[list[float | None]], dtype: str) -> list[int]:
    """Return the positions of results that are worse than the best of the references."""
    rounding = ROUNDING * float(np.finfo(dtype).eps)
    positions = []
    for k, error in enumerate(found):
        if error is None:
            continue
        best = min((each[k] for each in references if each[k] is not None), default=np.inf)
        factor = FACTOR if best < 100 * np.finfo(dtype).eps else FACTOR_WITHOUT_DIGITS
        if error > factor * best + rounding:
            positions.append(k)
    return positions
