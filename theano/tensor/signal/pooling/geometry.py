"""Windows of a dimension: how many there are, where they lie, and how many elements each has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable

from theano.support.data_classes import dataclass


def windows_along(length: object, size: Any, step: object, pad: Any, ignore_border: bool) -> Any:
    """Return how many windows there are along a dimension.

    Parameters
    ----------
    length, size, step, pad : int or integer scalar
        The elements of the dimension and of a window, the distance from one window to the
        next, and how many elements are put on each side.
    ignore_border : bool
        Whether to leave out windows that reach over the border.

    Returns
    -------
    int or integer scalar
    """
    padded = length + 2 * pad
    known = not any(isinstance(number, Variable) for number in (length, size, step, pad))
    greater: Any = max if known else pt.maximum
    if ignore_border:
        return greater((padded - size) // step + 1, 0)
    if known:
        apart = step >= size
        return (padded - 1) // step + 1 if apart else max(0, (padded - 1 - size) // step + 1) + 1
    overlapping = pt.maximum(0, (padded - 1 - size) // step + 1) + 1
    return pt.switch(pt.ge(step, size), (padded - 1) // step + 1, overlapping)


def shape_of_windows(
    shape: Sequence[Any],
    sizes: Sequence[Any],
    steps: Sequence[Any],
    pads: Sequence[Any],
    ignore_border: bool,
) -> list[Any]:
    """Return the shape of what is pooled over the last dimensions of `shape`."""
    lead = len(shape) - len(sizes)
    counts = [
        windows_along(*numbers, ignore_border)
        for numbers in zip(shape[lead:], sizes, steps, pads, strict=True)
    ]
    return [*shape[:lead], *counts]


@dataclass(frozen=True)
class Windows:
    """The windows over the last dimensions of arrays, by dimension.

    Attributes
    ----------
    lengths, sizes, steps, pads, counts : tuple of int
        The elements of an array and of a window, the distance from one window to the next, what
        is put on each side, and how many windows there are.
    """

    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    pads: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def over(
        cls,
        name: str,
        lengths: Sequence[int],
        sizes: Sequence[int],
        steps: Sequence[int],
        pads: Sequence[int],
        ignore_border: bool,
        may_be_empty: bool,
    ) -> Windows:
        """Check the numbers that an operator of this name was given, and count the windows.

        Parameters
        ----------
        may_be_empty : bool
            Whether a window may have no element of an array.

        Raises
        ------
        ValueError
            Not one number for each dimension, a window or a step without elements, a padding
            below 0, or with ``ignore_border=False``, or as large as a window that may not be
            empty; no element along a dimension whose border is not ignored.
        """
        rank = len(lengths)
        given = {"ws": sizes, "stride": steps, "pad": pads}
        for what, numbers in given.items():
            if len(numbers) != rank:
                raise ValueError(
                    f"{name}: {what} must be a vector of size {rank}, got {list(numbers)}"
                )
        found = [tuple(int(number) for number in numbers) for numbers in given.values()]
        for axis, (length, size, step, pad) in enumerate(zip(lengths, *found, strict=True)):
            at = f"along dimension {axis - rank}"
            if size < 1 or step < 1:
                raise ValueError(
                    f"{name}: ws and stride must be positive, got {size} and {step} {at}"
                )
            if pad < 0 or (pad >= size and not may_be_empty):
                raise ValueError(f"{name}: pad must be from 0 to {size - 1}, got {pad} {at}")
            if pad and not ignore_border:
                raise ValueError(
                    f"{name}: padding must be zero when ignore border is False, got {pad} {at}"
                )
            if length == 0 and not ignore_border:
                raise ValueError(f"{name}: expected at least one element {at}")
        extents = tuple(int(length) for length in lengths)
        sizes, steps, pads = found
        counts = shape_of_windows(extents, sizes, steps, pads, ignore_border)
        return cls(extents, sizes, steps, pads, tuple(counts))

    def room(self) -> tuple[int, ...]:
        """Return the lengths that hold all windows and what is put around."""
        return tuple(
            max((count - 1) * step + size, length + 2 * pad)
            for length, size, step, pad, count in self._by_dimension()
        )

    def inside(self) -> tuple[Any, ...]:
        """Return the index of an array within that room."""
        spans = zip(self.pads, self.lengths, strict=True)
        return (..., *(slice(pad, pad + length) for pad, length in spans))

    def offsets(self) -> Iterator[tuple[int, ...]]:
        """Iterate over the places of the elements of a window."""
        return itertools.product(*(range(size) for size in self.sizes))

    def elements(self, offset: Sequence[int]) -> tuple[Any, ...]:
        """Return the index, within that room, of the element at a place of each window."""
        spans = zip(offset, self.steps, self.counts, strict=True)
        return (
            ...,
            *(
                slice(k, k + step * (count - 1) + 1 if count else k, step)
                for k, step, count in spans
            ),
        )

    def counted(self, with_padding: bool) -> np.ndarray:
        """Return how many elements each window has, in an array of shape `counts`.

        Parameters
        ----------
        with_padding : bool
            Whether what is put around counts; what lies beyond it never does.
        """
        result = np.ones((1,) * len(self.counts))
        for axis, (length, size, step, pad, count) in enumerate(self._by_dimension()):
            first = np.arange(count) * step
            low, high = (0, length + 2 * pad) if with_padding else (pad, pad + length)
            along = np.minimum(first + size, high) - np.maximum(first, low)
            result = result * along.reshape(-1, *(1,) * (len(self.counts) - axis - 1))
        return result

    def _by_dimension(self) -> Iterator[tuple[int, int, int, int, int]]:
        return zip(self.lengths, self.sizes, self.steps, self.pads, self.counts, strict=True)
