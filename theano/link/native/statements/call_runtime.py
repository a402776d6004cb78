"""A function of the runtime, called for each matrix, row or sequence of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.partitions import ONE, Partition, Serial, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Statement, Touch, Work
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class OfStack:
    """The beginning of an array's part at a place of the stack, and so many of its strides.

    Attributes
    ----------
    array
        The position of the array among those that are written, and then those that are read.
    strides
        How many strides follow; those of dimensions that it lacks are 0.
    """

    array: int
    strides: int = 0


@dataclass(frozen=True)
class Whole:
    """The beginning of an array that all calls use, as work memory."""

    array: int


@dataclass(eq=False)
class CallRuntime(Statement):
    """Calls of one function; those of a stack are shared out among threads where they have no work memory.

    Attributes
    ----------
    function
        Its name in the runtime's table.
    writes, reads
        What it writes, work memory among it, and reads. Those of `OfStack` begin with the stack's dimensions.
    arguments
        What it is given: sizes and numbers, and parts of the arrays.
    stack
        For how many places it is called.
    takes, computes
        How many nanoseconds a call takes, and how many operations it computes: so many times for each
        element of a shape.
    failure
        The exception that ends the step where the function returns 0.
    by_caller
        Whether the calling thread alone may call it, as what may need Python's lock.
    """

    function: str
    writes: list[View]
    reads: list[View]
    arguments: tuple[Size | OfStack | Whole, ...]
    stack: tuple[Size, ...]
    takes: Sequence[Work]
    computes: Sequence[Work] = ()
    failure: tuple[type[Exception], str] | None = None
    by_caller: bool = False

    as_function = AsFunction.WHERE_IT_REPEATS
    leaves_work = True

    @property
    def may_fail(self) -> bool:
        return self.failure is not None

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [] if self.failure is None else [self.failure]

    def values_read(self) -> Sequence[View]:
        return self.reads

    def values_written(self) -> Sequence[View]:
        return self.writes

    def numbers_read(self) -> set[str]:
        sizes = [one for one in self.arguments if not isinstance(one, OfStack | Whole)]
        return super().numbers_read() | names_of(sizes)

    def free_views(self) -> list[View]:
        """Those whose strides the function is given."""
        numbered = enumerate(self.reads, len(self.writes))
        return [view for k, view in numbered if view.ndim - len(self.stack) <= self._given(k)]

    def _given(self, array: int) -> int:
        """Return how many strides of an array the function is given wherever it is given it."""
        parts = [one for one in self.arguments if isinstance(one, OfStack) and one.array == array]
        return min((one.strides for one in parts), default=0)

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        views = [*self.writes, *self.reads]
        of_stack = [views[one.array] for one in self.arguments if isinstance(one, OfStack)]
        return [pair for view in of_stack for pair in zip(view.shape, self.stack, strict=False)]

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        """Each thread has a range of the stack's first dimension."""
        if self.may_fail:
            # an error must not leave the other threads waiting
            return Serial("a function that may end the step")
        together = any(isinstance(one, Whole) for one in self.arguments)
        alone = together or self.by_caller
        if alone or not self.stack or sizes.find(self.stack[0]) == 1:
            return ONE
        return sharing.share(0, sizes.find(self.stack[0]), "1")

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        partition = self.partition(Sharing(), sizes)
        return (
            replace(partition, first="first", end="end") if isinstance(partition, Share) else None
        )

    def touches(self, share: Share | None) -> list[Touch]:
        dimension = None if share is None else 0
        reads = [Touch(view, dimension) for view in self.reads]
        return [*reads, *(Touch(view, dimension, True) for view in self.writes)]

    def nanoseconds(self) -> list[Work]:
        return [Work(one.each, (*self.stack, *one.shape)) for one in self.takes]

    def operations(self) -> list[Work]:
        return [Work(one.each, (*self.stack, *one.shape)) for one in self.computes]

    def described(self) -> str:
        return f"call of {self.function}"
