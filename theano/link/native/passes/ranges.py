"""Ranges of a buffer along one axis: whether they lie apart, and what they leave over."""

from __future__ import annotations

from collections.abc import Sequence

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sizes import Sizes


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


def in_order(ranges: Sequence[Range], buffer: Buffer, sizes: Sizes) -> list[Range] | None:
    """Return ranges one after the other, each beginning where the one before ends; None if they do not.

    They lie apart then, as no end lies before its start: a slice from the beginning or up to the end
    has none that does, and of equal lengths either all are empty or none.
    """
    if len({each.axis for each in ranges}) != 1 or len(set(ranges)) != len(ranges):
        return None
    following = {each.start: each for each in ranges}
    found = [sizes.end(each.start, each.length) for each in ranges]
    ends = [sizes.find(end) for end in found if end is not None]
    if len(following) != len(ranges) or len(ends) != len(ranges):
        return None
    size = sizes.find(buffer.shape[ranges[0].axis])
    lengths = {each.length for each in ranges}
    if len(lengths) > 1 and not all(
        isinstance(each.length, int) or each.start == 0 or end == size
        for each, end in zip(ranges, ends, strict=True)
    ):
        return None
    firsts = [each for each in ranges if each.start not in ends]
    if len(firsts) != 1:
        return None
    ordered = [firsts[0]]
    while len(ordered) < len(ranges):
        end = ends[ranges.index(ordered[-1])]
        following_one = following.get(end)
        if following_one is None or following_one in ordered:
            return None
        ordered.append(following_one)
    return ordered
