"""Descriptions of values with NaN, infinities or huge numbers, and of what else is in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from theano.support.data_classes import dataclass

# What NanGuardMode calls a big value
BIGGEST = 1e10


class WrongValueError(AssertionError):
    """A value that NanGuardMode refuses.

    Attributes
    ----------
    node, checked
        The operation where it began, and the one after which it was seen; None of inputs.
    """

    node: Apply | None = None
    checked: Apply | None = None


@dataclass(frozen=True)
class Wrongs:
    """The kinds of wrong values that are looked for.

    Attributes
    ----------
    nan, inf, big
        Whether NaN, infinity and magnitudes above `BIGGEST` are wrong.
    """

    nan: bool
    inf: bool
    big: bool

    def names(self, value: object) -> list[str]:
        """Return what is wrong with a value, in Theano's wording; nothing of what is no array of numbers."""
        numbers = _numbers(value)
        if numbers is None:
            return []
        return [name for name, mask in self._masks(numbers) if mask.any()]

    def at(self, value: np.ndarray) -> tuple[int, ...]:
        """Return where in an array the first wrong number is."""
        return tuple(int(k) for k in np.argwhere(self._mask(value))[0])

    def wrong_at(self, value: np.ndarray, place: tuple[int, ...]) -> bool:
        """Return whether the number at a place is wrong."""
        return _numbers(value) is not None and bool(self._mask(value[place]))

    def _mask(self, value: Any) -> Any:
        """Return where numbers are wrong in any way."""
        none = np.zeros(np.shape(value), bool)
        return reduce(np.logical_or, (mask for _, mask in self._masks(value)), none)

    def _masks(self, numbers: Any) -> Iterator[tuple[str, Any]]:
        """Yield what is looked for, in Theano's wording, and where it is."""
        if self.nan:
            yield "NaN detected", np.isnan(numbers)
        if self.inf:
            yield "Inf detected", np.isinf(numbers)
        if self.big:
            yield "Big value detected", np.abs(numbers) > BIGGEST


def summary(value: Any) -> str:
    """Shape, dtype, how many numbers are not finite, and between which the others are."""
    numbers = _numbers(value)
    if numbers is None:
        return type(value).__name__
    text = f"{numbers.dtype} {tuple(np.shape(value))}"
    if np.ndim(value) == 0:
        return f"{text}, {np.asarray(value)[()]}"
    finite = numbers[np.isfinite(numbers)]
    counts = {"NaN": np.isnan(numbers).sum(), "infinite": np.isinf(numbers).sum()}
    text += "".join(f", {n} of {numbers.size} {name}" for name, n in counts.items() if n)
    others = "the others " if finite.size < numbers.size else ""
    return f"{text}, {others}from {finite.min()} to {finite.max()}" if finite.size else text


def _numbers(value: object) -> np.ndarray | None:
    """Return the numbers of an array, dense or sparse; None of what has none."""
    if hasattr(value, "format") and hasattr(value, "data"):
        value = value.data
    if not isinstance(value, np.ndarray | np.generic):
        return None
    numbers = np.asarray(value)
    return numbers if numbers.size and numbers.dtype.kind in "fciu" else None
