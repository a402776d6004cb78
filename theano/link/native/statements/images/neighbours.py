"""The windows of images side by side, and what is next to them added to images.

Images are shared out among threads. Within an image no element is asked whether it is at the border:
the bounds of a window's rows say it.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.partitions import ONE, Partition, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.images.tasks import ALL_IMAGES, Along
from theano.support.data_classes import dataclass

# dimensions before those of an image
LEAD = 2


@dataclass(eq=False)
class Neighbours(Statement):
    """Copies between images and their windows.

    Attributes
    ----------
    images
        Of four dimensions.
    rows
        The windows of each: by their place along both dimensions, and elements in them.
    along
        The windows along both dimensions.
    count
        How many images there are.
    back
        Whether windows are added up in images, and not copied from these.
    wraps
        Whether windows go on at the other side of an image; else there are zeros around it.
    """

    images: View
    rows: View
    along: Sequence[Along]
    count: Size
    back: bool
    wraps: bool

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    @property
    def _both(self) -> tuple[View, View]:
        """Return what is written, and what is read."""
        return (self.images, self.rows) if self.back else (self.rows, self.images)

    def values_read(self) -> Sequence[Operand]:
        return [self._both[1]]

    def values_written(self) -> Sequence[Operand]:
        return [self._both[0]]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        return [*zip(self.images.shape[:LEAD], self.rows.shape[:LEAD], strict=True)]

    def numbers_read(self) -> set[str]:
        numbers = [number for one in self.along for number in one.numbers()]
        return super().numbers_read() | names_of([*numbers, self.count])

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        """Each thread has a range of the first dimension with several images."""
        shape = [sizes.find(size) for size in self.images.shape[:LEAD]]
        wide = [d for d, size in enumerate(shape) if size != 1]
        return sharing.share(wide[0], shape[wide[0]], "1") if wide else ONE

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        """Return what each of several threads does of it alone: a range of all images."""
        count = sizes.find(self.count)
        return None if count == 1 else Share(ALL_IMAGES, count, "1", "first", "end")

    def touches(self, share: Share | None) -> list[Touch]:
        d = None if share is None else share.dimension
        written, read = self._both
        return [Touch(read, d), Touch(written, d, True)]

    def nanoseconds(self) -> list[Work]:
        return [Work(2 * MOVE, self.rows.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.rows.shape)] if self.back else []
