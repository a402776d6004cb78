"""Elements along the last axis that are named by a vector of indices: read, set and increased.

Indices are known to be in range before the step, so that none of these may end it.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, Size, View
from theano.link.native.ir.partitions import ONE, OuterRange, Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class TakeColumns(Statement):
    """``target[..., k] = source[..., index[k]]``; `from_end`: some indices may be negative."""

    target: View
    source: View
    index: View
    from_end: bool

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        of_rows = zip(self.target.shape[:-1], self.source.shape[:-1], strict=True)
        return [(self.target.shape[-1], self.index.shape[0]), *of_rows]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return sharing.by_elements(sizes, self.target.shape, self.target.dtype)

    def part_of_thread(self, sizes: Sizes) -> OuterRange:
        return OuterRange()

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        rows, columns = (None, d) if d == self.target.ndim - 1 else (d, None)
        return [
            Touch(self.index, None if columns is None else 0),
            Touch(self.source, rows),
            Touch(self.target, d, True),
        ]

    def nanoseconds(self) -> list[Work]:
        return [Work(2 * MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return []


@dataclass(eq=False)
class UpdateColumns(Statement):
    """``target[..., index[k]] += source[..., k]`` one after the other, or ``=``."""

    target: View
    source: View | Scalar
    index: View
    from_end: bool
    add: bool

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    @property
    def shape(self) -> tuple[Size, ...]:
        """Return that of what is set or added."""
        return (*self.target.shape[:-1], self.index.shape[0])

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        # several indices may be the same
        part = self.part_of_thread(sizes)
        return ONE if part is None else sharing.share(part.dimension, part.size, part.unit)

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        rows = [*enumerate(map(sizes.find, self.target.shape[:-1]))]
        d = next((d for d, size in rows if size != 1), None)
        return None if d is None else Share(d, rows[d][1], "1", "first", "end")

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        reads = [Touch(self.source, d)] if isinstance(self.source, View) else []
        return [Touch(self.index, None), *reads, Touch(self.target, d, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(2 * MOVE, self.shape)]

    def operations(self) -> list[Work]:
        return []
