"""Polynomials with the least largest error, by Remez's exchange (Trefethen, Approximation Theory and
Approximation Practice, 2013, chapter 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]


def minimax(
    f: Function, low: mpf, high: mpf, degree: int, weight: Function, points: int
) -> tuple[list[mpf], mpf]:
    """Return coefficients, of the lowest power first, and the largest weighted error.

    Parameters
    ----------
    weight
        The error is multiplied by it.
    points
        How many points of the interval are looked at.
    """
    grid = _chebyshev(low, high, points)
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    count = degree + 2
    chosen = [round(k * (points - 1) / (count - 1)) for k in range(count)]
    best: tuple[list[mpf], mpf] = [], mpf("inf")
    for _ in range(20):
        coefficients = _levelled(grid, values, weights, chosen, degree)
        errors = [
            (mpmath.polyval(coefficients[::-1], x) - y) * w
            for x, y, w in zip(grid, values, weights, strict=True)
        ]
        largest = max(map(abs, errors))
        # the first exchanges may make it worse
        if largest < best[1]:
            best = coefficients, largest
        chosen = _exchanged(errors, count)
        if len(chosen) < count:
            break
    return best


def _chebyshev(low: mpf, high: mpf, points: int) -> list[mpf]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * k / (points - 1)) for k in range(points)]


def _levelled(grid, values, weights, chosen: Sequence[int], degree: int) -> list[mpf]:
    """Return the polynomial whose weighted errors at some points are equal and alternate in sign."""
    matrix = mp.matrix(degree + 2)
    right = mp.matrix(degree + 2, 1)
    for row, k in enumerate(chosen):
        power = mpf(1)
        for column in range(degree + 1):
            matrix[row, column] = power
            power *= grid[k]
        matrix[row, degree + 1] = (-1) ** row / weights[k]
        right[row] = values[k]
    return list(mp.lu_solve(matrix, right))[:-1]


def _exchanged(errors: Sequence[mpf], count: int) -> list[int]:
    """Return where errors are largest between changes of their signs."""
    peaks: list[int] = []
    for k, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = k
        else:
            peaks.append(k)
    while len(peaks) > count:
        # an end goes first; in the middle two of one sign would become neighbours
        first_is_less = abs(errors[peaks[0]]) < abs(errors[peaks[-1]])
        peaks.pop(0 if first_is_less else -1)
    return peaks
