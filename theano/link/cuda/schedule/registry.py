"""The functions that make nests of statements for a block: statements know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.native.ir.partitions import Rectangle, Share
from theano.link.native.statements.base import Statement
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Block:
    """A block of lanes, and what it knows of the sizes.

    Attributes
    ----------
    widest
        By the names of the first bound: how many elements a block has at most of a range.
    is_even
        Whether all blocks have as many elements of a range, by the name of its first bound.
    scratch
        Bytes of memory for partial results that statements have asked for.
    """

    fixed: FixedSizes
    lanes: int
    widest: dict[str, int]
    scratch: list[int]
    is_even: Callable[[str], bool]

    def extent(self, share: Share | None, dimension: int, size: Any) -> int:
        """Return how many elements along a dimension a block has at most."""
        if share is not None and share.dimension == dimension:
            return self.widest[share.first]
        return self.fixed.number(self.fixed.sizes.find(size))

    def needs(self, count: int, itemsize: int) -> None:
        """Ask for memory for so many partial results."""
        self.scratch.append(count * itemsize)


# takes the statement, the block, and which part of it the block does
Schedule = Callable[[Any, Block, Any], Sequence[Any]]

SCHEDULES: dict[type, Schedule] = {}


def schedules(*kinds: type) -> Callable[[Schedule], Schedule]:
    """Register a function as what makes nests of these kinds of statements."""

    def register(function: Schedule) -> Schedule:
        SCHEDULES.update(dict.fromkeys(kinds, function))
        return function

    return register


def nest_of(statement: Statement, block: Block, share: Share | None) -> list[Any]:
    """Return a block's part of a statement."""
    return list(SCHEDULES[type(statement)](statement, block, share))


def columns_of(share: Share | None) -> Share | None:
    """Return a range along one dimension, with the rows whole, of what threads may share either way."""
    if isinstance(share, Rectangle):
        return Share(share.dimension, share.size, share.unit, share.first, share.end)
    return share
