"""Ranges of a buffer along one axis: whether they lie apart, and what they leave over."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.support.data_classes import dataclass

# more are not compared two by two
_MOST_APART = 16


@dataclass(frozen=True)
class Range:
    """Neighbouring elements along an axis of a buffer, and all that there is along the others."""

    axis: int
    start: Size
    length: Size


def range_of(view: View, buffer: Buffer, sizes: Sizes) -> Range | None:
    """Return the range of a buffer that a view shows; None if it is no range, or all of it.

    Parameters
    ----------
    buffer
        The buffer of the view, or the one that owns its memory under the same shape.
    """
    ndim = len(buffer.shape)
    if view.axes != tuple(range(ndim)) or view.steps != (1,) * ndim:
        return None
    partial = [
        axis
        for axis in range(ndim)
        if view.start[axis] != 0 or sizes.find(view.shape[axis]) != sizes.find(buffer.shape[axis])
    ]
    if len(partial) != 1:
        return None
    (axis,) = partial
    return Range(axis, sizes.find(view.start[axis]), sizes.find(view.shape[axis]))


def part_of(view: View, buffer: Buffer, sizes: Sizes) -> Range | None:
    """Return the same of a view that may leave out axes, of each of which it shows one place."""
    if view.axes == tuple(range(len(buffer.shape))):
        return range_of(view, buffer, sizes)
    if None in view.axes or any(step != 1 for step in view.steps):
        return None
    if any(a is None or b is None or a >= b for a, b in pairwise(view.axes)):
        return None
    shape: list[Size] = [1] * len(buffer.shape)
    for axis, size in zip(view.axes, view.shape, strict=True):
        if axis is not None:
            shape[axis] = size
    ndim = len(shape)
    full = View(buffer, tuple(shape), tuple(range(ndim)), (1,) * ndim, view.start)
    return range_of(full, buffer, sizes)


def lie_apart(views: Sequence[View], sizes: Sizes) -> bool:
    """Return whether of some views of a buffer any two show the same, or nothing of each other.

    Along axes on which they differ it is known where they begin and end.
    """
    if not views or len(views) > _MOST_APART:
        return False
    boxes: dict[tuple[tuple[Size, Size], ...], None] = {}
    for view in views:
        if None in view.axes or any(step != 1 for step in view.steps):
            return False
        if len({*view.axes}) < view.ndim:
            return False
        box: list[tuple[Size, Size]] = [(start, 1) for start in view.start]
        for axis, size in zip(view.axes, view.shape, strict=True):
            if axis is not None:
                box[axis] = view.start[axis], sizes.find(size)
        boxes[tuple(box)] = None
    return all(_apart(*pair) for pair in combinations(boxes, 2))


def _apart(one: tuple[tuple[Size, Size], ...], other: tuple[tuple[Size, Size], ...]) -> bool:
    for (a, n), (b, m) in zip(one, other, strict=True):
        if all(isinstance(size, int) for size in (a, n, b, m)):
            if a + n <= b or b + m <= a:  # type: ignore[operator]
                return True
    return False


def in_order(ranges: Sequence[Range], buffer: Buffer, sizes: Sizes) -> list[Range] | None:
    """Return ranges one after the other, each beginning where the one before ends; None if they do not.

    They lie apart then, as no end lies before its start: a slice from the beginning or up to the end
    has none that does, and of equal lengths either all are empty or none.
    """
    if len({each.axis for each in ranges}) != 1 or len(set(ranges)) != len(ranges):
        return None
    following = {each.start: each for each in ranges}
    ends = [_ends(each, sizes) for each in ranges]
    if len(following) != len(ranges) or not all(ends):
        return None
    size = sizes.find(buffer.shape[ranges[0].axis])
    lengths = {each.length for each in ranges}
    if len(lengths) > 1 and not all(
        isinstance(each.length, int)
        or each.start == 0
        or size in end
        or (sizes.is_length(each.length) and sizes.known_sum(each.start, each.length) in end)
        for each, end in zip(ranges, ends, strict=True)
    ):
        return None
    firsts = [each for each in ranges if not any(each.start in end for end in ends)]
    if len(firsts) != 1:
        return None
    ordered = [firsts[0]]
    while len(ordered) < len(ranges):
        found = [following[end] for end in ends[ranges.index(ordered[-1])] if end in following]
        if len(found) != 1 or found[0] in ordered:
            return None
        ordered += found
    return ordered


def _ends(each: Range, sizes: Sizes) -> set[Size]:
    """Return what is known to be the end of a range; of one from the beginning its length is, too."""
    end = sizes.end(each.start, each.length)
    of_length = {each.length} if each.start == 0 else set()
    return of_length if end is None else of_length | {sizes.find(end)}
