"""Element-wise operations, and a reduction of one of their results, in one pass over the elements.

A row of elements is computed, so short that it stays in the first cache, and then accumulated: the
result need not be stored, and is not read from memory again.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Compute, Size, View
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import Operand, Touch, Work
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import (
    Reduce,
)
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class MapReduce(Map):
    """A map and the reduction of one of its results, of which nothing else need be in memory."""

    reduction: Reduce = None  # type: ignore[assignment]
    summed: Compute = None  # type: ignore[assignment]

    @property
    def may_fail(self) -> bool:  # type: ignore[override]
        return False

    def values_written(self) -> list[Operand]:
        return self.reduction.values_written()

    def row_by_row(self) -> tuple[Size, ...] | None:
        return self.shape if self.reduction.row_by_row() else None

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        return [*super().sizes_that_agree(), *self.reduction.sizes_that_agree()]

    def written(self):
        return [*super().written(), *self.reduction.written()]

    def replace_views(self, new: dict[int, View]) -> None:
        super().replace_views(new)
        self.reduction.replace_views(new)

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return self.reduction.partition(sharing, sizes)

    def part_of_thread(self, sizes: Sizes) -> Share | None:  # type: ignore[override]
        return self.reduction.part_of_thread(sizes)

    def touches(self, share: Share | None) -> list[Touch]:
        _, *target = self.reduction.touches(share)
        return [*super().touches(share), *target]

    def nanoseconds(self) -> list[Work]:
        return [*super().nanoseconds(), *self.reduction.nanoseconds()]

    def operations(self) -> list[Work]:
        return [*super().operations(), *self.reduction.operations()]

    def described(self) -> str:
        return f"{super().described()}; reduce"
