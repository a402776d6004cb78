"""Reductions over axes."""

from __future__ import annotations

from dataclasses import replace

from theano.link.native.ir.ir import Scalar, Size, View
from theano.link.native.ir.partitions import EVERY, ONE, Partition, Parts, Share, Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Reduce(Statement):
    """Reduction of a view over axes by an operation with an identity; computed in ``dtype``."""

    operation: str
    source: View
    axes: tuple[int, ...]
    target: View | Scalar
    dtype: str

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    @property
    def kept(self) -> list[int]:
        """The dimensions that stay."""
        return [d for d in range(self.source.ndim) if d not in self.axes]

    def values_read(self) -> list[Operand]:
        return [self.source]

    def row_by_row(self) -> tuple[Size, ...] | None:
        rows_stay = isinstance(self.target, View) and 0 not in self.axes
        return self.source.shape if rows_stay else None

    def values_written(self) -> list[Operand]:
        return [self.target]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        kept = [self.source.shape[d] for d in self.kept]
        if isinstance(self.target, Scalar):
            return []
        return [*zip(kept, self.target.shape, strict=True)]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        if isinstance(self.target, Scalar):
            return EVERY
        shape = [sizes.find(size) for size in self.source.shape]
        kept = [d for d in self.kept if shape[d] != 1]
        if not kept:
            return ONE
        columns = kept[-1] == len(shape) - 1
        if columns and len(kept) > 1 and sum(size != 1 for size in shape) > 2:
            # as passes over the elements of what is reduced, which are shared so
            return sharing.share(kept[-2], shape[kept[-2]], "1")
        unit = SUFFIX.get(self.target.dtype, "f32") if columns else "1"
        return sharing.share(kept[-1], shape[kept[-1]], unit)

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        if isinstance(self.target, Scalar):
            return Parts.of([self.dtype])
        partition = self.partition(Sharing(), sizes)
        return (
            replace(partition, first="first", end="end") if isinstance(partition, Share) else None
        )

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        read = Touch(self.source, d)
        if isinstance(self.target, Scalar):
            return [read]
        return [read, Touch(self.target, self.kept.index(d) if d in self.kept else None, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.source.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.source.shape)]
