"""Loops that are separate C functions."""

from __future__ import annotations

from typing import Any

from theano.link.native.ir.ir import Buffer, Scalar, Size, View
from theano.link.native.ir.partitions import Partition, Serial, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Name
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.support.data_classes import dataclass

# the arguments of a loop that it writes
WRITTEN_KINDS = ("mit_mot", "ring", "trace", "untraced")


@dataclass(frozen=True)
class When:
    """A condition of a step, and whether it has to hold."""

    condition: Scalar
    holds: bool


@dataclass(frozen=True)
class StepRange:
    """The steps that one of several calls in a row does.

    Attributes
    ----------
    start, count
        The names of the first of them, and of how many there are.
    rows
        For each operand how many rows it has for these steps; None where that is as always.
    whole
        For states whether they keep the rows of all steps; else the next call begins with the last ones.
    """

    start: Name
    count: Name
    rows: tuple[Size | None, ...]
    whole: tuple[Size | None, ...]


@dataclass(eq=False)
class CallLoop(Statement):
    """Run a loop that is a separate C function.

    Attributes
    ----------
    loop
        What was lowered; its arguments say what the operands are.
    prefix
        Begins the names of the C variables of this call.
    operands
        For each argument of the loop, what it is here.
    work
        Memory for the loop's own use.
    first_error
        What the errors of the loop begin at among those of the caller.
    takes
        How long all steps of the loop take on one thread, in sizes of the caller.
    steps
        How many steps there are.
    when
        On which condition it runs; None: always.
    block
        Which of the steps it does; None: all.
    """

    loop: Any
    prefix: str
    operands: list[View | Scalar]
    work: Buffer
    first_error: int
    takes: list[Work]
    steps: Size
    when: When | None = None
    block: StepRange | None = None

    as_function = AsFunction.NEVER
    leaves_work = True
    # it may be stopped, too
    may_fail = True

    @property
    def called(self) -> str:  # type: ignore[override]
        return self.loop.step.name

    def values_read(self) -> list[Operand]:
        pairs = zip(self.loop.arguments, self.operands, strict=True)
        read: list[Operand] = [operand for argument, operand in pairs if argument.kind != "trace"]
        return read if self.when is None else [*read, self.when.condition]

    def values_written(self) -> list[Operand]:
        return [*self._rows_written(), View.of(self.work)]

    def carried(self) -> list[Buffer]:
        # the operands that the first call has packed
        return [self.work]

    def strict_views(self) -> list[View]:
        pairs = zip(self.loop.arguments, self.operands, strict=True)
        strict = [view for a, view in pairs if not a.free_strides and isinstance(view, View)]
        return [*strict, View.of(self.work)]

    def views_without_gaps(self) -> list[View]:
        return self._rows_written()

    def _rows_written(self) -> list[View]:
        pairs = zip(self.loop.arguments, self.operands, strict=True)
        return [v for a, v in pairs if a.kind in WRITTEN_KINDS and isinstance(v, View)]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return Serial("the loop inside is shared among all threads, in its own region")

    def touches(self, share: Share | None) -> list[Touch]:
        return [Touch(view, None, True) for view in self.views()]

    def nanoseconds(self) -> list[Work]:
        return self.takes

    def operations(self) -> list[Work]:
        # its own statements are counted
        return []

    def moved(self) -> list[View]:
        return []

    def described(self) -> str:
        return f"the loop {self.loop.name}"
