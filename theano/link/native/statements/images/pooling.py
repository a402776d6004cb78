"""Pooling over windows of images, and its gradients.

Images, which are all dimensions before those of the windows, are shared out among threads. What is
added up for an element or a window is added by one thread, in one order.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.partitions import ONE, Partition, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import ARITHMETIC, MOVE
from theano.link.native.statements.images.tasks import ALL_IMAGES, Along, Mean, Task
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Pooling(Statement):
    """The maximum, sum or mean of windows of images, or its gradient.

    Attributes
    ----------
    task
        What that is.
    target, reads
        What is written, and images, greatest elements and gradients, as the task has them.
    along
        The windows, by dimension.
    images
        How many images there are.
    maximum
        Whether windows have their greatest element, and not their sum.
    mean
        How sums are divided, if they are.
    """

    task: Task
    target: View
    reads: list[View]
    along: Sequence[Along]
    images: Size
    maximum: bool = False
    mean: Mean | None = None

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    @property
    def lead(self) -> int:
        """Return how many dimensions there are before those of the windows."""
        return self.target.ndim - len(self.along)

    def values_read(self) -> Sequence[Operand]:
        return self.reads

    def values_written(self) -> Sequence[Operand]:
        return [self.target]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        shapes = [view.shape[: self.lead] for view in self.reads]
        return [pair for shape in shapes for pair in zip(shape, self.target.shape, strict=False)]

    def numbers_read(self) -> set[str]:
        numbers = [number for one in self.along for number in one.numbers()]
        return super().numbers_read() | names_of([*numbers, self.images])

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        """Each thread has a range of the first dimension before the windows' with several images."""
        shape = [sizes.find(size) for size in self.target.shape[: self.lead]]
        wide = [d for d, size in enumerate(shape) if size != 1]
        return sharing.share(wide[0], shape[wide[0]], "1") if wide else ONE

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        """Return what each of several threads does of it alone: a range of all images."""
        images = sizes.find(self.images)
        return None if images == 1 else Share(ALL_IMAGES, images, "1", "first", "end")

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        return [*(Touch(view, d) for view in self.reads), Touch(self.target, d, True)]

    def _terms(self) -> list[Size]:
        return [self.images, *(n for one in self.along for n in (one.count, one.size))]

    def nanoseconds(self) -> list[Work]:
        lengths = (self.images, *(one.length for one in self.along))
        return [Work(MOVE, lengths), Work(ARITHMETIC, tuple(self._terms()))]

    def operations(self) -> list[Work]:
        return [Work(1, tuple(self._terms()))]

    def described(self) -> str:
        return f"{self.task.value} of windows"
