"""Lines of C that a lowering writes itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sharing import ONE, Alone, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Checks, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE


@dataclass(eq=False)
class Kernel(Statement):
    """Lines of C over arrays with any strides.

    Attributes
    ----------
    writes, reads
        What the lines write and read; what they change in part is among both.
    make_lines
        Makes them, given the arrays that are written, those that are read, and how the numbers read.
    numbers
        What they compute with beside the arrays: sizes, and numbers that are known before.
    failure
        The exception that they may end the step with; what does it comes after the numbers.
    check_lines, unchecked_lines
        Where an index may be out of range: lines that only check, over what is written and then
        what is read, and lines that do the rest; given the same.
    takes
        Nanoseconds for each element of a shape; if it is not given, as long as to move all that is
        written and read.
    computes
        How many operations, for each element of a shape.
    """

    writes: list[View]
    reads: list[View]
    make_lines: Callable[..., list[str]]
    numbers: Sequence[Size] = ()
    failure: tuple[type[Exception], str] | None = None
    check_lines: Callable[..., list[str]] | None = None
    unchecked_lines: Callable[..., list[str]] | None = None
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
        if self.check_lines is None:
            return None
        assert self.unchecked_lines is not None
        both = [*self.writes, *self.reads]
        changed = {view.buffer.root() for view in self.writes}
        return Checks(
            Kernel([], both, self.check_lines, self.numbers, self.failure),
            [view for view in self.reads if view.buffer.root() not in changed],
            replace(self, make_lines=self.unchecked_lines, failure=None),
        )

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        # an error must not leave the other threads waiting
        return Alone("lines of an operation that may end the step") if self.may_fail else ONE

    def touches(self, share: Share | None) -> list[Touch]:
        reads = [Touch(view, None) for view in self.reads]
        return [*reads, *(Touch(view, None, True) for view in self.writes)]

    def nanoseconds(self) -> list[Work]:
        return self.takes or [Work(MOVE, view.shape) for view in self.views()]

    def operations(self) -> list[Work]:
        return self.computes
