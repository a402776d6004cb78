"""Partitions of a statement among threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from theano.link.native.ir.ir import Size
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Share:
    """A range of each thread along a dimension.

    Attributes
    ----------
    dimension
        Of the result, or of the source of a reduction.
    unit
        What is not cut: the 'f32' or 'f64' columns of a panel, or single elements, '1'.
    first, end
        The names of the bounds of the range.
    """

    dimension: int
    size: Size
    unit: str
    first: str
    end: str


@dataclass(frozen=True)
class OuterRange(Share):
    """A range along the outermost of the loops that a pass over elements has, whatever its dimension."""

    dimension: int = -1
    size: Size = 1
    unit: str = "1"
    first: str = "first"
    end: str = "end"


@dataclass(frozen=True)
class Parts(OuterRange):
    """A range of the parts of which numbers are made: their results are left, and put together afterwards.

    Attributes
    ----------
    partials
        Where those of each number are left, and of what type.
    """

    partials: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, dtypes: Sequence[str]) -> Parts:
        """Return a range of the parts of numbers that are computed in these types."""
        return cls(partials=tuple((f"partials{k or ''}", d) for k, d in enumerate(dtypes)))


@dataclass(frozen=True)
class Rectangle(Share):
    """A range of columns of a range of rows, either of which may be all: what is chosen when the loop is called.

    Attributes
    ----------
    top, bottom
        The names of the bounds of the rows.
    """

    top: str = "top"
    bottom: str = "bottom"


@dataclass(frozen=True)
class Serial:
    """The step has one thread, and why."""

    reason: str


# The other partitions: each thread for itself, in its own variables; or the first thread alone.
EVERY, ONE = "every", "one"
Partition = Share | str | Serial


@dataclass
class Sharing:
    """The partitions of a step's statements.

    Attributes
    ----------
    rows
        How many rows the arrays have that threads may share by rows in place of columns.
    in_pieces
        How many columns each of several rows has, where threads do little more with their columns than to
        read and write them; none where they do.
    partitions
        By the position of the statement.
    barriers
        Positions of statements before which all threads wait for one another; the number of statements stands
        for the end of the step.
    barriers_by_rows
        The same where rows are shared.
    barriers_by_both
        The same where threads share the rows in groups, and those of a group the columns; none where
        a statement does not allow that.
    """

    rows: Size | None = None
    in_pieces: set[Size] = field(default_factory=set)
    partitions: list[Partition] = field(default_factory=list)
    # by the size, the unit, and whether a range is of a `Rectangle`
    ranges: dict[tuple[Size, str, bool], int] = field(default_factory=dict)
    barriers: set[int] = field(default_factory=set)
    barriers_by_rows: set[int] = field(default_factory=set)
    barriers_by_both: set[int] | None = None

    def share(self, dimension: int, size: Size, unit: str) -> Share:
        """Return a range along a dimension, the same wherever the size and the unit are."""
        number = self.ranges.setdefault((size, unit, False), len(self.ranges))
        return Share(dimension, size, unit, f"first{number}", f"end{number}")

    def columns(self, rows: Size, size: Size, unit: str) -> Share:
        """Return a range of the columns of an array of two dimensions, or of its rows if it has those in common."""
        if rows != self.rows:
            return self.share(1, size, unit)
        number = self.ranges.setdefault((size, unit, True), len(self.ranges))
        return Rectangle(1, size, unit, f"first{number}", f"end{number}")

    def by_elements(self, sizes: Sizes, shape: tuple[Size, ...], dtype: str) -> Partition:
        """Return a range along the last dimension but one of three, so that a thread's lie together.

        Of memory in two, where halves of rows take turns, a processor fetches what the other
        thread needs.
        """
        found = [sizes.find(size) for size in shape]
        wide = [d for d, size in enumerate(found) if size != 1]
        if len(found) == 2 and wide[-1:] == [1]:
            return self.columns(found[0], found[1], SUFFIX.get(dtype, "f32"))
        if len(wide) < 3:
            return self.by_columns(sizes, shape, dtype)
        return self.share(wide[-2], found[wide[-2]], "1")

    def by_columns(self, sizes: Sizes, shape: tuple[Size, ...], dtype: str) -> Partition:
        """Return a range along the last dimension that is not known to be 1.

        Of what there is one of for each row, a thread has those of its rows.
        """
        found = [sizes.find(size) for size in shape]
        wide = [d for d, size in enumerate(found) if size != 1]
        if not wide:
            return ONE
        d = wide[-1]
        unit = SUFFIX.get(dtype, "f32") if d == len(shape) - 1 else "1"
        return self.share(d, found[d], unit)
