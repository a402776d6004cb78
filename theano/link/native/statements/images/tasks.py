"""Work over windows, and the windows along a dimension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum

from theano.link.native.ir.symbolic import Size
from theano.support.data_classes import dataclass

# a share of the images, however many dimensions they have before the windows'
ALL_IMAGES = -2


class Task(Enum):
    """Work over windows, and which of the target and the operands are images or of the windows."""

    # a number of each window of images
    POOL = "pool"
    # the gradient of each window, added to those elements of images that are its greatest
    TO_GREATEST = "to greatest"
    # the gradient of each window, added to all of its elements
    TO_ALL = "to all"
    # the sum of values, which are next to images, at the greatest elements of each window
    OF_GREATEST = "of greatest"

    @property
    def fills_images(self) -> bool:
        """Return whether the target is as large as the images."""
        return self in (Task.TO_GREATEST, Task.TO_ALL)

    @property
    def compares(self) -> bool:
        """Return whether elements are compared with the greatest of their windows."""
        return self in (Task.TO_GREATEST, Task.OF_GREATEST)


@dataclass(frozen=True)
class Along:
    """The windows along a dimension.

    Attributes
    ----------
    length, size, step, pad, count
        The elements of the dimension and of a window, the distance of windows, how many elements
        are put on each side, and the number of windows.
    """

    length: Size
    size: Size
    step: Size
    pad: Size
    count: Size

    def numbers(self) -> Iterator[Size]:
        """All of them."""
        return (getattr(self, entry.name) for entry in fields(self))


@dataclass(frozen=True)
class Mean:
    """Divides sums by the number of elements.

    Attributes
    ----------
    with_border
        Whether what is put around counts.
    all_alike
        Whether all windows are known to have as many elements.
    """

    with_border: bool
    all_alike: bool
