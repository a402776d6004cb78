"""Pooling and its gradients by plain loops over windows, in NumPy; and windows to draw."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


@dataclass(frozen=True)
class Example:
    """Images, and the windows over their last dimensions."""

    shape: tuple[int, ...]
    ws: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    ignore_border: bool
    mode: str

    @property
    def rank(self) -> int:
        """Return the number of dimensions of windows."""
        return len(self.ws)

    def counts(self) -> tuple[int, ...]:
        """Return the number of windows along each dimension, counted one by one."""
        found = []
        lengths = self.shape[len(self.shape) - self.rank :]
        for length, size, step, pad in zip(lengths, self.ws, self.stride, self.pad, strict=True):
            count, end = 0, length + 2 * pad
            while count * step + size <= end:
                count += 1
            # a window at the border has elements that none before it has, and no step is larger
            last = (count - 1) * step + size
            if not self.ignore_border and (not count or (last < end and count * step < end)):
                count += 1
            found.append(count)
        return tuple(found)

    def windows(self) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]], int]]:
        """Each window: its place, its elements in the image, and how many count for its mean."""
        lengths = self.shape[len(self.shape) - self.rank :]
        for place in itertools.product(*map(range, self.counts())):
            spans, padded = [], 1
            for k, length, size, step, pad in zip(
                place, lengths, self.ws, self.stride, self.pad, strict=True
            ):
                first = k * step - pad
                spans.append([i for i in range(first, first + size) if 0 <= i < length])
                padded *= min(first + size, length + pad) - first
            inside = list(itertools.product(*spans))
            yield place, inside, padded if self.mode == "average_inc_pad" else len(inside)

    def images(self) -> Iterator[tuple[int, ...]]:
        """The indices of images."""
        return itertools.product(*map(range, self.shape[: len(self.shape) - self.rank]))


def pooled(example: Example, x: np.ndarray) -> np.ndarray:
    """Return the pooled value of each window."""
    lead = example.shape[: len(example.shape) - example.rank]
    result = np.zeros((*lead, *example.counts()), dtype=x.dtype)
    for image in example.images():
        for place, inside, count in example.windows():
            values = [x[image + at] for at in inside]
            if example.mode == "max":
                result[image + place] = max(values)
            else:
                result[image + place] = sum(values) / (1 if example.mode == "sum" else count)
    return result


def gradient(example: Example, x: np.ndarray, given: np.ndarray) -> np.ndarray:
    """The gradient of images from that of what is made from windows."""
    result = np.zeros_like(x)
    for image in example.images():
        for place, inside, count in example.windows():
            one = given[image + place]
            best = max((x[image + at] for at in inside), default=0)
            for at in inside:
                if example.mode == "max":
                    result[image + at] += one if x[image + at] == best else 0
                else:
                    result[image + at] += one / (1 if example.mode == "sum" else count)
    return result


def tangent(example: Example, x: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the derivative of pooled values along a direction; of equal maxima, all count."""
    if example.mode != "max":
        return pooled(example, along)
    lead = example.shape[: len(example.shape) - example.rank]
    result = np.zeros((*lead, *example.counts()), dtype=x.dtype)
    for image in example.images():
        for place, inside, _ in example.windows():
            best = max(x[image + at] for at in inside)
            result[image + place] = sum(along[image + at] for at in inside if x[image + at] == best)
    return result


def drawn(seed: int) -> tuple[Example, Any]:
    """An example, and the generator that drew it."""
    rng = np.random.default_rng(seed)
    rank, lead = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    ignore_border = bool(rng.integers(2))
    ws = tuple(int(n) for n in rng.integers(1, 5, size=rank))
    stride = tuple(int(n) for n in rng.integers(1, 5, size=rank))
    pad = tuple(int(rng.integers(0, size)) if ignore_border else 0 for size in ws)
    longest = {1: 24, 2: 9, 3: 6}[rank]
    lengths = tuple(int(n) for n in rng.integers(1, longest, size=rank))
    images = tuple(int(n) for n in rng.integers(1, 4, size=lead))
    mode = MODES[int(rng.integers(4))]
    return Example((*images, *lengths), ws, stride, pad, ignore_border, mode), rng
