"""Element-wise operations, and reductions of some of their results, in one pass over the elements.

A row of elements is computed, so short that it stays in the first cache, and then accumulated: the
results need not be stored, and are not read from memory again.
"""

from __future__ import annotations

from dataclasses import field

from theano.link.native.ir.ir import Compute, Scalar, Size, View
from theano.link.native.ir.partitions import Partition, Parts, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import Operand, Touch, Work
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class MapReduce(Map):
    """A map and reductions of its results, of which nothing else need be in memory.

    Attributes
    ----------
    reduced
        Each reduction, and what it reads. Where there are several, each makes a number.
    """

    reduced: list[tuple[Reduce, Compute]] = field(default_factory=list)

    @property
    def reductions(self) -> list[Reduce]:
        return [reduction for reduction, _ in self.reduced]

    @property
    def may_fail(self) -> bool:  # type: ignore[override]
        return False

    def values_written(self) -> list[Operand]:
        return [value for one in self.reductions for value in one.values_written()]

    def row_by_row(self) -> tuple[Size, ...] | None:
        return self.shape if all(one.row_by_row() for one in self.reductions) else None

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        of_reductions = [pair for one in self.reductions for pair in one.sizes_that_agree()]
        return [*super().sizes_that_agree(), *of_reductions]

    def written(self):
        return [*super().written(), *(b for one in self.reductions for b in one.written())]

    def replace_views(self, new: dict[int, View]) -> None:
        super().replace_views(new)
        for one in self.reductions:
            one.replace_views(new)

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return self.reductions[0].partition(sharing, sizes)

    def part_of_thread(self, sizes: Sizes) -> Share | None:  # type: ignore[override]
        first, *_ = self.reductions
        if isinstance(first.target, Scalar):
            return Parts.of([one.dtype for one in self.reductions])
        return first.part_of_thread(sizes)

    def touches(self, share: Share | None) -> list[Touch]:
        targets = [touch for one in self.reductions for touch in one.touches(share)[1:]]
        return [*super().touches(share), *targets]

    def nanoseconds(self) -> list[Work]:
        return [*super().nanoseconds(), *(w for one in self.reductions for w in one.nanoseconds())]

    def operations(self) -> list[Work]:
        return [*super().operations(), *(w for one in self.reductions for w in one.operations())]

    def described(self) -> str:
        return f"{super().described()}{'; reduce' * len(self.reduced)}"
