"""Views that are written element by element: copies, and what is combined with what is there."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.partitions import OuterRange, Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Copy(Statement):
    """``target[...] = source`` element by element; the source is broadcast.

    Attributes
    ----------
    may_be_same
        Whether the caller may have both lie in the same memory; then nothing is copied.
    rows
        How many of the first rows are needed of the copy; None: all.
    """

    target: View
    source: View | Scalar
    may_be_same: bool = False
    rows: int | None = None

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return sharing.by_elements(sizes, self.target.shape, self.target.dtype)

    def part_of_thread(self, sizes: Sizes) -> OuterRange | None:
        # no thread is woken for what need not be copied
        return None if self.may_be_same else OuterRange()

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return []


@dataclass(eq=False)
class Combine(Statement):
    """``target = operation(target, source)`` element by element."""

    target: View
    source: View | Scalar
    operation: str

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.target, self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return sharing.by_elements(sizes, self.target.shape, self.target.dtype)

    def part_of_thread(self, sizes: Sizes) -> OuterRange:
        return OuterRange()

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.target.shape)]


def _touches(target: View, source: View | Scalar, share: Share | None) -> list[Touch]:
    d = None if share is None else share.dimension
    reads = [Touch(source, d)] if isinstance(source, View) else []
    return [*reads, Touch(target, d, True)]
