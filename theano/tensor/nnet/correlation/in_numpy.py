"""Correlations and their gradients in NumPy: a product of matrices with all windows side by side.

An image (B, C, *lengths), filters (F, C / groups, *sizes) and a result (B, F, *counts) become
stacks of matrices, one for each group, and one for each window where windows share no filter:

    windows (groups, parts, rows, elements of a window)
    filters (groups, parts, filters of a group, elements of a window)
    result  (groups, parts, rows, filters of a group)

With shared filters there is one part, whose rows are all windows of all images; with filters of
their own each place of a window is a part, whose rows are the images.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from types import EllipsisType

import numpy as np

from theano.support.data_classes import dataclass
from theano.tensor.nnet.correlation.geometry import extent


@dataclass(frozen=True)
class Windows:
    """The places of windows in images: all that a correlation is, but for its values.

    Parameters
    ----------
    borders : sequence of pairs
        The zeros before and after each dimension.
    sizes : sequence of int
        The shape of a window.
    counts : sequence of int
        How many windows there are along each dimension.
    strides, dilations : sequences of int
        The distance from one window to the next, and of neighbours in one.
    groups : int
        How many groups of channels are correlated on their own.
    unshared : bool
        Whether each window has its own filters.
    """

    borders: Sequence[tuple[int, int]]
    sizes: Sequence[int]
    counts: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    groups: int
    unshared: bool

    def padded(self, image: np.ndarray) -> np.ndarray:
        """Return the images with zeros around them."""
        return np.pad(image, [(0, 0), (0, 0), *self.borders])

    def of(self, image: np.ndarray) -> np.ndarray:
        """Return the windows of images (B, C, *lengths), as a stack of matrices."""
        rank = len(self.sizes)
        padded = self.padded(image)
        batch, channels = padded.shape[:2]
        covered = [extent(n, step) for n, step in zip(self.sizes, self.dilations, strict=True)]
        views = np.lib.stride_tricks.sliding_window_view(
            padded, covered, axis=tuple(range(2, 2 + rank))
        )
        places = [slice(None, None, step) for step in self.strides]
        neighbours = [slice(None, None, step) for step in self.dilations]
        windows = views[(slice(None), slice(None), *places, *neighbours)]
        windows = windows.reshape(
            batch, self.groups, channels // self.groups, *self.counts, *self.sizes
        )
        # (B, G, c, *counts, *sizes) -> (G, *counts, B, c, *sizes), or with B before the counts
        counts = range(3, 3 + rank)
        order = (1, *counts, 0) if self.unshared else (1, 0, *counts)
        windows = windows.transpose(*order, 2, *range(3 + rank, 3 + 2 * rank))
        return windows.reshape(self._stack(batch, channels))

    def added_up(self, windows: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """Images of some shape in which each element is the sum of all that windows have of it."""
        rank = len(self.sizes)
        batch, channels = shape[:2]
        c = channels // self.groups
        if self.unshared:
            windows = windows.reshape(self.groups, *self.counts, batch, c, *self.sizes)
            windows = np.moveaxis(windows, 1 + rank, 1)
        else:
            windows = windows.reshape(self.groups, batch, *self.counts, c, *self.sizes)
        # (G, B, *counts, c, *sizes) -> (B, G, c, *counts, *sizes) -> (B, C, *counts, *sizes)
        counts, sizes = range(2, 2 + rank), range(3 + rank, 3 + 2 * rank)
        windows = windows.transpose(1, 0, 2 + rank, *counts, *sizes)
        windows = windows.reshape(batch, channels, *self.counts, *self.sizes)
        lengths = [
            before + length + after
            for length, (before, after) in zip(shape[2:], self.borders, strict=True)
        ]
        padded = np.zeros((batch, channels, *lengths), windows.dtype)
        for element, places in self._places():
            place: tuple[EllipsisType | slice, ...] = (..., *places)
            of_windows: tuple[EllipsisType | int, ...] = (..., *element)
            padded[place] += windows[of_windows]
        inside = [
            slice(before, before + length)
            for length, (before, _) in zip(shape[2:], self.borders, strict=True)
        ]
        whole: tuple[EllipsisType | slice, ...] = (..., *inside)
        return padded[whole]

    def _places(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """For each element of a window, where it is in the padded image in all windows."""
        for element in itertools.product(*map(range, self.sizes)):
            places = []
            for axis, index in enumerate(element):
                first, step = index * self.dilations[axis], self.strides[axis]
                places.append(slice(first, first + (self.counts[axis] - 1) * step + 1, step))
            yield element, tuple(places)

    def _stack(self, batch: int, channels: int) -> tuple[int, int, int, int]:
        places, elements = math.prod(self.counts), math.prod(self.sizes)
        parts, rows = (places, batch) if self.unshared else (1, batch * places)
        return self.groups, parts, rows, channels // self.groups * elements

    def filters_as_stack(self, filters: np.ndarray) -> np.ndarray:
        """Return filters (F, c, *sizes), or (F, *counts, c, *sizes), as a stack of matrices."""
        of_group = len(filters) // self.groups
        elements = math.prod(filters.shape[-1 - len(self.sizes) :])
        parts = math.prod(self.counts) if self.unshared else 1
        return filters.reshape(self.groups, of_group, parts, elements).swapaxes(1, 2)

    def filters_of_stack(self, stack: np.ndarray, channels: int) -> np.ndarray:
        """Return the filters for images of so many channels, of which these are a stack."""
        filters = stack.shape[0] * stack.shape[2]
        own = self.counts if self.unshared else ()
        shape = (filters, *own, channels // self.groups, *self.sizes)
        return stack.swapaxes(1, 2).reshape(shape)

    def result_as_stack(self, result: np.ndarray) -> np.ndarray:
        """Return a result (B, F, *counts) as a stack of matrices."""
        batch, filters = result.shape[:2]
        of_group, places = filters // self.groups, math.prod(self.counts)
        stack = result.reshape(batch, self.groups, of_group, places)
        if self.unshared:
            return stack.transpose(1, 3, 0, 2)
        return stack.transpose(1, 0, 3, 2).reshape(self.groups, 1, batch * places, of_group)

    def result_of_stack(self, stack: np.ndarray, batch: int) -> np.ndarray:
        """Return the result for a batch of so many images, of which this is a stack."""
        of_group = stack.shape[3]
        if self.unshared:
            result = stack.transpose(2, 0, 3, 1)
        else:
            result = stack.reshape(self.groups, batch, math.prod(self.counts), of_group)
            result = result.transpose(1, 0, 3, 2)
        return result.reshape(batch, self.groups * of_group, *self.counts)


def correlate(windows: Windows, image: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Return the result of a correlation."""
    stack = windows.of(image) @ windows.filters_as_stack(filters).swapaxes(2, 3)
    return windows.result_of_stack(stack, len(image))


def gradient_of_filters(windows: Windows, image: np.ndarray, topgrad: np.ndarray) -> np.ndarray:
    """Return the gradient by the filters, given that by the result."""
    stack = windows.result_as_stack(topgrad).swapaxes(2, 3) @ windows.of(image)
    return windows.filters_of_stack(stack, image.shape[1])


def gradient_of_image(
    windows: Windows, filters: np.ndarray, topgrad: np.ndarray, shape: Sequence[int]
) -> np.ndarray:
    """Return the gradient by the images of some shape, given that by the result."""
    stack = windows.result_as_stack(topgrad) @ windows.filters_as_stack(filters)
    return windows.added_up(stack, shape)
