"""The part of a value that each device has when a batch is split over devices.

A device has either all of the value; or its rows of it; or a summand, all of which together make
it. These are `ALL`, a `Rows` and `SUMMAND`.
"""

from __future__ import annotations

from typing import Any

from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Rows:
    """A device has its rows of the batch.

    Attributes
    ----------
    axis
        The dimension with the batch.
    inner
        How many elements of it belong to one row: more than 1 where dimensions that followed the
        batch were joined with it.
    """

    axis: int
    inner: int = 1


class _Named:
    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


ALL = _Named("all")
SUMMAND = _Named("summand")
# Of a number, within loops: it is how many rows the device has.
COUNT = _Named("number of rows")
# Likewise, but it is made from how many rows there are in all.
TOTAL = _Named("number of all rows")

Part = Any


class CannotSplit(Exception):
    """An operation has no result on rows of the batch; the text says why."""


class ReadsPartialSum(CannotSplit):
    """A sum has a summand and whole values, which one device alone may add.

    Attributes
    ----------
    whole
        These values.
    """

    def __init__(self, message: str, whole: list[Any]):
        super().__init__(message)
        self.whole = whole


@dataclass
class NeedsSum(Exception):
    """The inputs at these positions must be summed over the devices first."""

    positions: tuple[int, ...]


def summed(parts: list[Part]) -> NeedsSum:
    """Return what to raise where no input may be a summand."""
    return NeedsSum(tuple(k for k, part in enumerate(parts) if part is SUMMAND))


@dataclass(frozen=True)
class Sizes:
    """The sizes of available values, for rules; within a loop nothing is known.

    Attributes
    ----------
    values
        Of the inputs, on this device.
    whole
        Those inputs' values that would be others without the split: what lengths are made from.
    rows
        How many rows a device has.
    """

    values: list[Any] | None
    whole: list[Any] | None
    rows: int

    def differ(self) -> bool:
        """Return whether an input is made from the number of rows."""
        pairs = zip(self.values or (), self.whole or (), strict=True)
        return any(own is not other for own, other in pairs)

    def known(self) -> list[Any]:
        """Return the values of the inputs."""
        if self.values is None:
            raise CannotSplit("it depends on lengths, within a loop")
        return self.values
