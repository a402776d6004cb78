"""Sums and products of all elements so far along an axis."""

from __future__ import annotations

from theano.link.native.ir.ir import View
from theano.link.native.ir.partitions import ONE, Partition, Share, Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Cumulate(Statement):
    """The results of an operation, such as 'add', on all elements so far along an axis."""

    operation: str
    target: View
    source: View
    axis: int

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def free_views(self) -> list[View]:
        return [self.source]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        share = self.part_of_thread(sizes)
        return ONE if share is None else sharing.share(share.dimension, share.size, share.unit)

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        shape = [*map(sizes.find, self.target.shape)]
        wide = [d for d, size in enumerate(shape) if size != 1 and d != self.axis]
        if not wide:
            return None
        d = wide[0] if wide[0] < self.axis else wide[-1]
        unit = "1" if d < self.axis else SUFFIX.get(self.target.dtype, "f32")
        return Share(d, shape[d], unit, "first", "end")

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        return [Touch(self.source, d), Touch(self.target, d, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(2 * MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.target.shape)]
