"""Correlations of images with filters by plain loops, and random ones to compare with them.

Nothing here uses Theano or PyTensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A correlation: its options and the shapes of what takes part.

    Parameters
    ----------
    border_mode : str, int, or tuple
        As users write it.
    image, filters, result : tuple of int
        Shapes (B, C, *lengths), (F, c, *sizes) or (F, *counts, c, *sizes), (B, F, *counts).
    """

    border_mode: Any
    subsample: tuple[int, ...]
    filter_dilation: tuple[int, ...]
    num_groups: int
    unshared: bool
    image: tuple[int, ...]
    filters: tuple[int, ...]
    result: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.image) - 2

    @property
    def options(self) -> dict[str, Any]:
        """Return the options that operators are made with."""
        names = ("border_mode", "subsample", "filter_dilation", "num_groups")
        options = {name: getattr(self, name) for name in names}
        return options | ({"unshared": True} if self.unshared else {})

    def borders(self) -> list[tuple[int, int]]:
        """The zeros before and after each dimension."""
        mode = self.border_mode
        if isinstance(mode, str):
            sizes = self.filters[-self.rank :]
            extents = [(n - 1) * d + 1 for n, d in zip(sizes, self.filter_dilation, strict=True)]
            sides = {"valid": lambda e: 0, "full": lambda e: e - 1, "half": lambda e: e // 2}[mode]
            return [(sides(e), sides(e)) for e in extents]
        modes = (mode,) * self.rank if isinstance(mode, int) else mode
        return [(m, m) if isinstance(m, int) else m for m in modes]

    def counts(self) -> tuple[int, ...]:
        """Return the number of windows along each dimension."""
        counts = []
        for axis, (before, after) in enumerate(self.borders()):
            extent = (self.filters[axis - self.rank] - 1) * self.filter_dilation[axis] + 1
            padded = before + self.image[2 + axis] + after
            counts.append(len(range(0, padded - extent + 1, self.subsample[axis])))
        return tuple(counts)

    def terms(self) -> Iterator[tuple[tuple, tuple, tuple]]:
        """The places in the image, the filters and the result of each product of two numbers."""
        rank, counts = self.rank, self.counts()
        channels, sizes = self.filters[-rank - 1], self.filters[-rank:]
        filters_of_group = self.filters[0] // self.num_groups
        starts = [before for before, _ in self.borders()]
        for batch, which, *window in np.ndindex(self.image[0], self.filters[0], *counts):
            group = which // filters_of_group
            for channel, *element in np.ndindex(channels, *sizes):
                place = [
                    window[axis] * self.subsample[axis]
                    + element[axis] * self.filter_dilation[axis]
                    - starts[axis]
                    for axis in range(rank)
                ]
                if all(0 <= p < n for p, n in zip(place, self.image[2:], strict=True)):
                    own = tuple(window) if self.unshared else ()
                    yield (
                        (batch, group * channels + channel, *place),
                        (which, *own, channel, *element),
                        (batch, which, *window),
                    )

    def evaluated(self, direction: str, image=None, filters=None, result=None) -> np.ndarray:
        """Return the array that a direction computes from the other two."""
        place = {"inputs": 0, "weights": 1, "forward": 2}[direction]
        arrays = [image, filters, result]
        arrays[place] = np.zeros([self.image, self.filters, self.result][place])
        of = [k for k in range(3) if k != place]
        for places in self.terms():
            factors = [arrays[k][places[k]] for k in of]
            arrays[place][places[place]] += factors[0] * factors[1]
        return arrays[place]

    def drawn(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """An image, filters, and a gradient of the result, of random numbers."""
        return {
            name: rng.normal(size=getattr(self, name)) for name in ("image", "filters", "result")
        }


def random_problem(
    rng: np.random.Generator, rank: int, unshared: bool = False, pairs: bool = True
) -> Problem:
    """A correlation with any options and small sizes, in which there is at least one window."""
    for _ in itertools.count():
        groups = int(rng.integers(1, 4))
        channels, filters = rng.integers(1, 3, size=2)
        problem = Problem(
            _random_border_mode(rng, rank, pairs),
            tuple(int(n) for n in rng.integers(1, 4, size=rank)),
            tuple(int(n) for n in rng.choice([1, 1, 2, 3], size=rank)),
            groups,
            unshared,
            tuple(
                int(n) for n in (rng.integers(1, 3), groups * channels, *rng.integers(1, 8, rank))
            ),
            tuple(int(n) for n in (groups * filters, channels, *rng.integers(1, 4, rank))),
        )
        counts = problem.counts()
        if min(counts) > 0:
            shape = problem.filters
            if unshared:
                shape = (shape[0], *counts, *shape[1:])
            return replace(problem, filters=shape, result=(problem.image[0], shape[0], *counts))
    raise AssertionError("no end")


def _random_border_mode(rng: np.random.Generator, rank: int, pairs: bool) -> Any:
    kind = rng.choice(["valid", "full", "half", "number", "numbers", "pairs"])
    if kind == "number":
        return int(rng.integers(0, 4))
    if kind == "numbers" or (kind == "pairs" and not pairs):
        return tuple(int(n) for n in rng.integers(0, 4, size=rank))
    if kind == "pairs":
        return tuple(tuple(int(n) for n in rng.integers(0, 4, size=2)) for _ in range(rank))
    return str(kind)
