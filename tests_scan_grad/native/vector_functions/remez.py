"""Polynomials and their quotients with the least largest error, by Remez's exchange (Trefethen, Approximation
Theory and Approximation Practice, 2013, chapters 10 and 24)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]


def minimax(
    f: Function, low: mpf, high: mpf, degrees: tuple[int, int], weight: Function, points: int
) -> tuple[list[mpf], list[mpf], mpf]:
    """Return coefficients above and below, of the lowest power first, and the largest weighted error.

    Parameters
    ----------
    degrees
        Those of the polynomial above and of that below, whose first coefficient is 1.
    weight
        The error is multiplied by it.
    points
        How many points of the interval are looked at.
    """
    grid = _chebyshev(low, high, points)
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    count = sum(degrees) + 2
    chosen = [round(k * (points - 1) / (count - 1)) for k in range(count)]
    best: tuple[list[mpf], list[mpf], mpf] = [], [], mpf("inf")
    below = [mpf(1)]
    for _ in range(20):
        above, below = _levelled(grid, values, weights, chosen, degrees, below)
        errors = [
            (_value(above, x) / _value(below, x) - y) * w
            for x, y, w in zip(grid, values, weights, strict=True)
        ]
        largest = max(map(abs, errors))
        # the first exchanges may make it worse
        if largest < best[2]:
            best = above, below, largest
        chosen = _exchanged(errors, count)
        if len(chosen) < count:
            break
    return best


def _value(coefficients: Sequence[mpf], x: mpf) -> mpf:
    return mpmath.polyval(coefficients[::-1], x)


def _chebyshev(low: mpf, high: mpf, points: int) -> list[mpf]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * k / (points - 1)) for k in range(points)]


def _levelled(
    grid, values, weights, chosen: Sequence[int], degrees: tuple[int, int], below: list[mpf]
) -> tuple[list[mpf], list[mpf]]:
    """Return polynomials whose weighted errors at some points are equal and alternate in sign.

    The equations are linear but for the error times the polynomial below, which is first taken as it was.
    """
    above_degree, below_degree = degrees
    count = above_degree + below_degree + 2
    for _ in range(6 if below_degree else 1):
        matrix, right = mp.matrix(count), mp.matrix(count, 1)
        for row, k in enumerate(chosen):
            powers = [grid[k] ** power for power in range(max(degrees) + 1)]
            for column in range(above_degree + 1):
                matrix[row, column] = powers[column]
            for power in range(1, below_degree + 1):
                matrix[row, above_degree + power] = -values[k] * powers[power]
            matrix[row, count - 1] = (-1) ** row / weights[k] * _value(below, grid[k])
            right[row] = values[k]
        found = list(mp.lu_solve(matrix, right))
        below = [mpf(1), *found[above_degree + 1 : -1]]
    return found[: above_degree + 1], below


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
