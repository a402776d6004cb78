"""Which part of a statement each of several threads does."""

from __future__ import annotations

from dataclasses import field

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Size
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes


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
        The bounds of the range in C.
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
class Alone:
    """The step has one thread, and why."""

    reason: str


# The other ways: each thread for itself, in its own variables; or the first thread alone.
EVERY, ONE = "every", "one"
Way = Share | str | Alone


@dataclass
class Sharing:
    """How the statements of a step are shared out.

    Attributes
    ----------
    ways
        By the position of the statement.
    barriers
        Positions of statements before which all threads meet; the number of statements stands
        for the end of the step.
    """

    ways: list[Way] = field(default_factory=list)
    ranges: dict[tuple[Size, str], int] = field(default_factory=dict)
    barriers: set[int] = field(default_factory=set)

    def share(self, dimension: int, size: Size, unit: str) -> Share:
        """A range along a dimension, the same wherever the size and the unit are."""
        number = self.ranges.setdefault((size, unit), len(self.ranges))
        return Share(dimension, size, unit, f"first{number}", f"end{number}")

    def by_elements(self, sizes: Sizes, shape: tuple[Size, ...], dtype: str) -> Way:
        """A range along the last dimension but one of three, so that a thread's lie together.

        Of memory in two, where halves of rows take turns, a processor fetches what the other
        thread needs.
        """
        found = [sizes.find(size) for size in shape]
        wide = [d for d, size in enumerate(found) if size != 1]
        if len(wide) < 3:
            return self.by_columns(sizes, shape, dtype)
        return self.share(wide[-2], found[wide[-2]], "1")

    def by_columns(self, sizes: Sizes, shape: tuple[Size, ...], dtype: str) -> Way:
        """A range along the last dimension that is not known to be 1."""
        found = [sizes.find(size) for size in shape]
        wide = [d for d, size in enumerate(found) if size != 1]
        if not wide:
            return ONE
        d = wide[-1]
        return self.share(d, found[d], SUFFIX.get(dtype, "f32"))
