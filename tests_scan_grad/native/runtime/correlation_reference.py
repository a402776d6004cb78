"""Correlations of images with filters and their gradients, in NumPy, tap by tap in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Axis:
    """Along an axis, window o begins at ``o * step - before``, and its taps are ``dilation`` apart."""

    length: int
    taps: int
    step: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def count(self) -> int:
        """Return the number of windows."""
        extent = (self.taps - 1) * self.dilation + 1
        return (self.length + self.before + self.after - extent) // self.step + 1


@dataclass(frozen=True)
class Sizes:
    """Of a correlation; channels and filters are those of one group."""

    images: int
    groups: int
    channels: int
    filters: int
    axes: tuple[Axis, ...]

    @property
    def image_shape(self) -> tuple[int, ...]:
        return (self.images, self.groups * self.channels, *(a.length for a in self.axes))

    @property
    def filter_shape(self) -> tuple[int, ...]:
        return (self.groups * self.filters, self.channels, *(a.taps for a in self.axes))

    @property
    def top_shape(self) -> tuple[int, ...]:
        return (self.images, self.groups * self.filters, *(a.count for a in self.axes))


def _taps(sizes: Sizes, padded: np.ndarray) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Each tap, and the numbers of padded images, by group, that all windows see there."""
    shape = (sizes.images, sizes.groups, sizes.channels, *padded.shape[2:])
    grouped = padded.reshape(shape)
    for tap in product(*(range(axis.taps) for axis in sizes.axes)):
        starts = [i * axis.dilation for i, axis in zip(tap, sizes.axes, strict=True)]
        seen = tuple(
            slice(start, start + (axis.count - 1) * axis.step + 1, axis.step)
            for start, axis in zip(starts, sizes.axes, strict=True)
        )
        yield tap, grouped[(..., *seen)]


def _padded(sizes: Sizes, images: np.ndarray) -> np.ndarray:
    borders = [(0, 0), (0, 0), *((axis.before, axis.after) for axis in sizes.axes)]
    return np.pad(images.astype("float64"), borders)


def _grouped_filters(sizes: Sizes, filters: np.ndarray) -> np.ndarray:
    shape = (sizes.groups, sizes.filters, sizes.channels, *filters.shape[2:])
    return filters.astype("float64").reshape(shape)


def to_top(sizes: Sizes, images: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The correlation."""
    counts = tuple(axis.count for axis in sizes.axes)
    top = np.zeros((sizes.images, sizes.groups, sizes.filters, *counts))
    grouped = _grouped_filters(sizes, filters)
    for tap, seen in _taps(sizes, _padded(sizes, images)):
        top += np.einsum("gfc,bgc...->bgf...", grouped[(..., *tap)], seen)
    return top.reshape(sizes.top_shape)


def to_filters(sizes: Sizes, images: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Its gradient by the filters, where that by its results is `top`."""
    positions = "xyz"[: len(sizes.axes)]
    grouped = top.astype("float64").reshape(
        (sizes.images, sizes.groups, sizes.filters, *top.shape[2:])
    )
    shape = (sizes.groups, sizes.filters, sizes.channels, *sizes.filter_shape[2:])
    filters = np.zeros(shape)
    for tap, seen in _taps(sizes, _padded(sizes, images)):
        formula = f"bgf{positions},bgc{positions}->gfc"
        filters[(..., *tap)] = np.einsum(formula, grouped, seen)
    return filters.reshape(sizes.filter_shape)


def to_images(sizes: Sizes, filters: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Its gradient by the images, where that by its results is `top`."""
    grouped = top.astype("float64").reshape(
        (sizes.images, sizes.groups, sizes.filters, *top.shape[2:])
    )
    padded = _padded(sizes, np.zeros(sizes.image_shape))
    kernels = _grouped_filters(sizes, filters)
    for tap, seen in _taps(sizes, padded):
        seen += np.einsum("gfc,bgf...->bgc...", kernels[(..., *tap)], grouped)
    inside = tuple(slice(axis.before, axis.before + axis.length) for axis in sizes.axes)
    return padded[(..., *inside)]
