"""The part of a program that has been drawn so far, with its values in two calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests_scan_grad.around_loops.pieces import Piece
from tests_scan_grad.around_loops.programs import Input

# arrays of more elements, or more axes, are not made
MOST_ELEMENTS = 1500
MOST_AXES = 4


class Drawn:
    """Inputs and pieces so far; values are known in the first two calls.

    Attributes
    ----------
    values
        The arrays of each value in the two calls.
    """

    def __init__(
        self,
        seed: int,
        generator: np.random.Generator,
        inputs: list[Input],
        calls: tuple[int, ...],
    ):
        self.seed, self.generator, self.inputs, self.calls = seed, generator, inputs, calls
        self.pieces: list[Piece] = []
        self.values: list[list[np.ndarray]] = [
            [0.7 * generator.normal(size=entry.lengths(n)) for n in calls[:2]] for entry in inputs
        ]

    def shapes(self, k: int) -> list[tuple[int, ...]]:
        """The shape of a value in each of the calls."""
        return [array.shape for array in self.values[k]]

    def ndim(self, k: int) -> int:
        """Its number of axes."""
        return self.values[k][0].ndim

    def recent(self, least: int, most: int = MOST_AXES) -> int | None:
        """One of the values with so many axes, of the last ones rather than of the first."""
        fitting = [k for k in range(len(self.values)) if least <= self.ndim(k) <= most]
        if not fitting:
            return None
        return fitting[-1 - int(len(fitting) * self.generator.random() ** 2.5)]

    def some(self, fits: Callable[[int], bool], count: int) -> list[int]:
        """As many of the values that fit, perhaps one of them twice; those of pieces rather."""
        fitting = [k for k in range(len(self.values)) if fits(k)]
        fitting += 3 * [k for k in fitting if k >= len(self.inputs)]
        return (
            [fitting[k] for k in self.generator.integers(len(fitting), size=count)]
            if fitting
            else []
        )

    def add(self, piece: Piece) -> bool:
        """Append a piece; not one whose values are too large."""
        given = [[self.values[k][call] for k in piece.operands] for call in range(2)]
        computed = [piece.compute(arrays) for arrays in given]
        for array in [array for arrays in computed for array in arrays]:
            if array.size > MOST_ELEMENTS or array.ndim > MOST_AXES:
                return False
            if array.size and not np.abs(array).max() < 1e3:
                return False
        self.pieces.append(piece)
        self.values += [list(pair) for pair in zip(*computed, strict=True)]
        return True

    def inputs_put_out(self) -> list[int]:
        """Now and then an input, shared or not, is a result."""
        return [k for k in range(len(self.inputs)) if self.generator.random() < 0.06]
