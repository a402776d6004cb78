"""Passes over arrays that have their rows in common, some rows at a time.

What one pass has made from a row is in the cache when the next one reads it: of a softmax the largest
element of each row, the exponentials and their sum, and the quotients.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Size
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction
from theano.link.native.statements.compound import Compound
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class RowByRow(Compound):
    """Statements, each of which reads and writes only rows that the others have of the same number.

    None of them may fail.

    Attributes
    ----------
    shape
        That of the largest arrays; the first dimension is the one in common.
    """

    shape: tuple[Size, ...]

    as_function = AsFunction.WHERE_IT_REPEATS

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return sharing.share(0, sizes.find(self.shape[0]), "1")

    def part_of_thread(self, sizes: Sizes) -> Share:
        return Share(0, sizes.find(self.shape[0]), "1", "first", "end")

    def described(self) -> str:
        return f"row by row: {super().described()}"
