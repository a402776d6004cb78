"""Products of matrices."""

from __future__ import annotations

from theano.link.native.ir.ir import View
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.statements.base import AsFunction, Statement, Touch, Work
from theano.link.native.statements.costs import MULTIPLY_ADD
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Gemm(Statement):
    """``out = a @ b`` for matrices; ``packed`` is the position of b among the packed operands."""

    a: View
    b: View
    out: View
    packed: int | None = None
    accumulate: bool = False

    as_function = AsFunction.NEVER
    leaves_work = True
    may_fail = False

    def values_read(self) -> list[View]:
        return [self.a, self.b, *([self.out] if self.accumulate else [])]

    def values_written(self) -> list[View]:
        return [self.out]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        (rows, columns), inner = self.out.shape, self.a.shape[1]
        return [(self.a.shape[0], rows), (self.b.shape[1], columns), (self.b.shape[0], inner)]

    def packed_operand(self) -> int | None:
        return self.packed

    def free_views(self) -> list[View]:
        return [self.a, self.b]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        if sizes.find(self.out.shape[1]) == 1:
            return sharing.share(0, sizes.find(self.out.shape[0]), "1")
        rows, columns = map(sizes.find, self.out.shape)
        if self.packed is None:
            # how it is computed depends on how many rows there are
            return sharing.share(1, columns, SUFFIX[self.out.dtype])
        return sharing.columns(rows, columns, SUFFIX[self.out.dtype])

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        rows, columns = (0, None) if d == 0 else (None, d)
        return [Touch(self.a, rows), Touch(self.b, columns), Touch(self.out, d, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(MULTIPLY_ADD[self.out.dtype], (*self.out.shape, self.a.shape[1]))]

    def operations(self) -> list[Work]:
        return [Work(2, (*self.out.shape, self.a.shape[1]))]

    def described(self) -> str:
        return "product" + ("" if self.packed is None else " with a packed matrix")
