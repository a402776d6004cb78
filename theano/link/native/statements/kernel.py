"""Loops over arrays with any strides that one thread runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.partitions import ONE, Partition, Serial, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Checks, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Kernel(Statement):
    """A task over arrays with any strides.

    Attributes
    ----------
    writes, reads
        What it writes and reads; what it changes in part is among both.
    task
        What it does, such as one of `tasks.py`.
    numbers
        What it computes with besides the arrays: sizes, and numbers that are known before.
    failure
        The exception that it may end the step with.
    checks_apart
        Whether what may fail in it can be checked before anything is written.
    only_checks
        Whether it does no more than that; then its arrays are what it would write, and what it reads.
    takes
        Nanoseconds for each element of a shape; if it is not given, as long as to move all that is
        written and read.
    computes
        How many operations, for each element of a shape.
    """

    writes: list[View]
    reads: list[View]
    task: Any
    numbers: Sequence[Size] = ()
    failure: tuple[type[Exception], str] | None = None
    checks_apart: bool = False
    only_checks: bool = False
    takes: list[Work] = field(default_factory=list)
    computes: list[Work] = field(default_factory=list)

    as_function = AsFunction.IN_LONG_SEGMENTS

    @property
    def may_fail(self) -> bool:
        return self.failure is not None

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [] if self.failure is None else [self.failure]

    def values_read(self) -> list[View]:
        return self.reads

    def values_written(self) -> list[View]:
        return self.writes

    def numbers_read(self) -> set[str]:
        return super().numbers_read() | names_of(self.numbers)

    def free_views(self) -> list[View]:
        return self.reads

    def checks(self) -> Checks | None:
        if not self.checks_apart:
            return None
        both = [*self.writes, *self.reads]
        changed = {view.buffer.root() for view in self.writes}
        return Checks(
            Kernel([], both, self.task, self.numbers, self.failure, only_checks=True),
            [view for view in self.reads if view.buffer.root() not in changed],
            replace(self, failure=None),
        )

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        # an error must not leave the other threads waiting
        return Serial("lines of an operation that may end the step") if self.may_fail else ONE

    def touches(self, share: Share | None) -> list[Touch]:
        reads = [Touch(view, None) for view in self.reads]
        return [*reads, *(Touch(view, None, True) for view in self.writes)]

    def nanoseconds(self) -> list[Work]:
        return self.takes or [Work(MOVE, view.shape) for view in self.views()]

    def operations(self) -> list[Work]:
        return self.computes
