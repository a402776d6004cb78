"""Rows that are named by a vector of indices: read, written, and checked.

Each thread checks all of the indices, so that all of them stop where one is out of range.
"""

from __future__ import annotations

from dataclasses import replace

from theano.link.native.ir.ir import Scalar, Size, View
from theano.link.native.ir.partitions import EVERY, Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import (
    AsFunction,
    Checks,
    Operand,
    Statement,
    Touch,
    Work,
)
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass

# what the errors of all of these are
OUT_OF_RANGE = IndexError, "index out of range"


@dataclass(eq=False)
class Gather(Statement):
    """``target[k] = source[index[k]]`` for rows."""

    target: View
    source: View
    index: View

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = True

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        rows = (self.target.shape[0], self.index.shape[0])
        return [rows, *zip(self.target.shape[1:], self.source.shape[1:], strict=True)]

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        if self.target.ndim == 2:
            return sharing.by_elements(sizes, self.target.shape, self.target.dtype)
        return sharing.by_columns(sizes, self.target.shape, self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, self.index, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return []

    def moved(self) -> list[View]:
        return [self.target, self.target, self.index]


@dataclass(eq=False)
class Scatter(Statement):
    """``target[index[k]] += source[k]`` for rows, or ``=``; `checked`: the indices are in range."""

    target: View
    source: View | Scalar
    index: View
    add: bool
    checked: bool = False

    as_function = AsFunction.IN_LONG_SEGMENTS

    @property
    def may_fail(self) -> bool:
        return not self.checked

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    def checks(self) -> Checks | None:
        alone = CheckRows(self.index, self.target.shape[0])
        return Checks(alone, [self.index], replace(self, checked=True))

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        # several of the rows may be the same one
        return sharing.by_columns(sizes, (1, *self.target.shape[1:]), self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, self.index, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, (*self.index.shape, *self.target.shape[1:]))]

    def operations(self) -> list[Work]:
        return []

    def moved(self) -> list[View]:
        source = [self.source, self.source] if isinstance(self.source, View) else []
        return [*source, self.index]


@dataclass(eq=False)
class CheckRows(Statement):
    """Fail unless all indices are those of one of so many rows."""

    index: View
    rows: Size

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = True

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def values_read(self) -> list[Operand]:
        return [self.index]

    def values_written(self) -> list[Operand]:
        return []

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return EVERY

    def touches(self, share: Share | None) -> list[Touch]:
        return [Touch(self.index, None)]

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.index.shape)]

    def operations(self) -> list[Work]:
        return []


def _touches(target: View, source: View | Scalar, index: View, share: Share | None) -> list[Touch]:
    d = None if share is None else share.dimension
    # what is shared out is not the rows that indices name
    reads = [Touch(source, d or None)] if isinstance(source, View) else []
    return [Touch(index, None), *reads, Touch(target, d, True)]
