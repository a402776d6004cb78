"""Arrays of which one dimension is longer than it says: the rows after the first ones are padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theano.support.data_classes import dataclass


class CannotBucket(Exception):
    """The graph cannot be computed on padded arrays; the text says why."""


@dataclass(frozen=True, eq=False)
class Padded:
    """An array with padding at the end of a dimension.

    Attributes
    ----------
    value
        The array with its padding: as long as for the greatest length.
    axis
        The dimension.
    lengths
        How many rows of it there are, for each combination of lengths.
    is_zero
        Whether the padding is zeros; it may be anything otherwise, NaN included.
    """

    value: Any
    axis: int
    lengths: np.ndarray
    is_zero: bool = False

    def __post_init__(self) -> None:
        if self.lengths.max() > self.lengths[-1] or self.shape[self.axis] != self.lengths[-1]:
            raise CannotBucket("a result that gets no longer with the loop")

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    def with_value(self, value: object, axis: int | None = None) -> Padded:
        """Return the same rows of another array, whose padding may be anything."""
        return Padded(value, self.axis if axis is None else axis, self.lengths)

    def filled(self, with_what: Any, length: object) -> Padded:
        """Return the array with some number as padding; `length` is how many rows there are."""
        import jax.numpy as jnp

        if self.is_zero and with_what == 0:
            return self
        value = jnp.asarray(self.value)
        value = jnp.where(rows_below(length, value.shape, self.axis), value, with_what)
        value = value.astype(self.value.dtype)
        return replace(self, value=value, is_zero=np.ndim(with_what) == 0 and with_what == 0)


def rows_below(length: Any, shape: Sequence[int], axis: int) -> Any:
    """Return which rows of a dimension come before a number, as booleans that broadcast."""
    from jax import lax

    ones = [1] * len(shape)
    ones[axis] = shape[axis]
    return lax.broadcasted_iota("int32", ones, axis) < length


def same_lengths(parts: list[Padded]) -> np.ndarray:
    """Return the lengths that all of them have."""
    first = parts[0].lengths
    if any(not np.array_equal(first, part.lengths) for part in parts):
        raise CannotBucket("its inputs have different lengths")
    return first
