"""Statements on single numbers, which each thread computes for itself."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.partitions import EVERY, Partition, Share, Sharing
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Assign(Statement):
    """``result = operation(operands)`` on numbers."""

    result: Scalar
    operation: Expression
    operands: list[Scalar]

    as_function = AsFunction.NEVER
    only_numbers = True
    may_fail = False

    def values_read(self) -> list[Scalar]:
        return self.operands

    def values_written(self) -> list[Scalar]:
        return [self.result]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return EVERY

    def touches(self, share: Share | None) -> list[Touch]:
        return []

    def nanoseconds(self) -> list[Work]:
        return []

    def operations(self) -> list[Work]:
        return []


@dataclass(eq=False)
class Load(Statement):
    """``result = view`` for a view of one element."""

    result: Scalar
    view: View

    as_function = AsFunction.NEVER
    only_numbers = True
    may_fail = False

    def values_read(self) -> list[View]:
        return [self.view]

    def values_written(self) -> list[Scalar]:
        return [self.result]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return EVERY

    def touches(self, share: Share | None) -> list[Touch]:
        return [Touch(self.view, None)]

    def nanoseconds(self) -> list[Work]:
        return []

    def operations(self) -> list[Work]:
        return []


@dataclass(eq=False)
class Check(Statement):
    """End the step with an exception unless ``condition(operands)`` holds.

    All threads see the same numbers, so that all of them end it.
    """

    condition: Expression
    operands: list[Scalar]
    kind: type[Exception]
    text: str

    as_function = AsFunction.NEVER
    only_numbers = True
    may_fail = True

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [(self.kind, self.text)]

    def values_read(self) -> list[Operand]:
        return [*self.operands]

    def values_written(self) -> list[Operand]:
        return []

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return EVERY

    def touches(self, share: Share | None) -> list[Touch]:
        return []

    def nanoseconds(self) -> list[Work]:
        return []

    def operations(self) -> list[Work]:
        return []
