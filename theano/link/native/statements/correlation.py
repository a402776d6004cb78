"""Correlations of images with filters, and their gradients, as the runtime computes them."""

from __future__ import annotations

from dataclasses import fields

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Call, Symbolic
from theano.link.native.statements.base import AsFunction, Statement, Touch, Work
from theano.link.native.statements.costs import MULTIPLY_ADD
from theano.support.data_classes import dataclass

# what is computed, as runtime.h counts it
DIRECTIONS = {"top": 0, "images": 1, "filters": 2}


@dataclass(frozen=True)
class Axis:
    """Along an axis, window o begins at ``o * step - before``, and its taps are ``dilation`` apart."""

    length: Size = 1
    taps: Size = 1
    count: Size = 1
    step: Size = 1
    dilation: Size = 1
    before: Size = 0


@dataclass(frozen=True)
class CorrelationSizes:
    """The sizes of a correlation; channels and filters are those of one group."""

    images: Size
    groups: Size
    channels: Size
    filters: Size
    axes: tuple[Axis, Axis, Axis]

    def numbers(self) -> list[Size]:
        """All of them, as ``tn_correlation`` of runtime.h has them."""
        of_axes = [getattr(axis, entry.name) for axis in self.axes for entry in fields(axis)]
        return [self.images, self.groups, self.channels, self.filters, *of_axes]

    def multiply_adds(self) -> tuple[Size, ...]:
        """Return how many there are, in factors."""
        of_axes = [size for axis in self.axes for size in (axis.taps, axis.count)]
        return (self.images, self.groups, self.channels, self.filters, *of_axes)

    def work(self, computed: str, dtype: str) -> Symbolic:
        """Return how many elements of work memory it takes."""
        given = Call("correlation", tuple(self.numbers()))
        return Call(f"correlation_work_{SUFFIX[dtype]}", (given, DIRECTIONS[computed]))


@dataclass(eq=False)
class Correlate(Statement):
    """One of images, filters and top, the result of their correlation, from the two others.

    All of them are in C order, without gaps.

    Attributes
    ----------
    computed
        Which of them it computes: 'top', 'images' or 'filters'.
    work
        The runtime's work memory.
    """

    computed: str
    sizes: CorrelationSizes
    images: View
    filters: View
    top: View
    work: View

    as_function = AsFunction.NEVER
    leaves_work = True
    may_fail = False

    def values_read(self) -> list[View]:
        return [getattr(self, name) for name in DIRECTIONS if name != self.computed]

    def values_written(self) -> list[View]:
        return [getattr(self, self.computed), self.work]

    def numbers_read(self) -> set[str]:
        return super().numbers_read() | names_of(self.sizes.numbers())

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        # the runtime cuts it into tasks: which thread does which follows from more than this range
        return sharing.share(0, sizes.find(self.images.shape[0]), "1")

    def touches(self, share: Share | None) -> list[Touch]:
        reads = [Touch(view, None) for view in self.values_read()]
        return [*reads, *(Touch(view, None, True) for view in self.values_written())]

    def nanoseconds(self) -> list[Work]:
        return [Work(MULTIPLY_ADD[self.images.dtype], self.sizes.multiply_adds())]

    def operations(self) -> list[Work]:
        return [Work(2, self.sizes.multiply_adds())]

    def moved(self) -> list[View]:
        return [self.images, self.filters, self.top]

    def described(self) -> str:
        return "correlation" if self.computed == "top" else f"correlation, to {self.computed}"
