"""Element-wise operations in one pass over the elements."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from theano.link.native.ir.ir import Buffer, Compute, Size, View
from theano.link.native.ir.partitions import OuterRange, Partition, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import ARITHMETIC, FUNCTION, MOVE, VECTOR_FUNCTION
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Map(Statement):
    """Element-wise operations over one shape, each after those that it uses."""

    shape: tuple[Size, ...]
    body: list[Compute] = field(default_factory=list)

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        operands = [operand for compute in self.body for operand in compute.operands]
        return [operand for operand in operands if not isinstance(operand, Compute)]

    def values_written(self) -> list[Operand]:
        return []

    def elementwise(self) -> list[Compute]:
        return self.body

    def row_by_row(self) -> tuple[Size, ...] | None:
        return self.shape

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        views = [value for value in self.values_read() if isinstance(value, View)]
        shapes = [*(view.shape for view in views), *(buffer.shape for buffer in Map.written(self))]
        return [pair for shape in shapes for pair in zip(shape, self.shape, strict=True)]

    def results(self) -> list[Buffer]:
        return [c.buffer for c in self.body if c.materialized and c.buffer is not None]

    def written(self) -> list[Buffer]:
        return [c.buffer for c in self.body if c.buffer is not None]

    def replace_views(self, new: dict[int, View]) -> None:
        for compute in self.body:
            compute.operands = [new.get(id(operand), operand) for operand in compute.operands]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        materialized = [compute.dtype for compute in self.body if compute.materialized]
        return sharing.by_elements(sizes, self.shape, (materialized or ["float32"])[0])

    def part_of_thread(self, sizes: Sizes) -> OuterRange:
        return OuterRange()

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        touched = []
        for compute in self.body:
            views = [operand for operand in compute.operands if isinstance(operand, View)]
            touched += [Touch(view, d) for view in views]
            if compute.materialized and compute.buffer is not None:
                touched.append(Touch(View.of(compute.buffer), d, True))
        return touched

    def nanoseconds(self) -> list[Work]:
        return [Work(sum(map(_nanoseconds, self.body)), self.shape)]

    def operations(self) -> list[Work]:
        return [Work(len(self.body), self.shape)]

    def described(self) -> str:
        return "map: " + ", ".join(compute.operation.name for compute in self.body)


def _nanoseconds(compute: Compute) -> float:
    operation: Any = compute.operation
    moves = MOVE if compute.materialized else 0.0
    if not operation.function:
        return moves + ARITHMETIC
    vectors = VECTOR_FUNCTION if operation.in_vectors else {}
    return moves + vectors.get(compute.dtype, FUNCTION)
