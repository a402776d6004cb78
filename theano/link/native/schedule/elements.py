"""Loops over the elements of views of one shape, in as few dimensions as their memory allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.ir import View
from theano.link.native.ir.layout import Place, Product, collapsed, marks, place_of
from theano.link.native.ir.loop_nests import (
    Block,
    For,
    Form,
    Load,
    Node,
    Number,
    Pointer,
    loops,
    named,
    times,
    unless_empty,
)
from theano.link.native.ir.partitions import OuterRange, Rectangle, Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Call, Choice, Size, compared, difference, sum_of
from theano.link.native.schedule.polls import in_blocks, poll_after, with_polls

# Of a range: whole lines of memory, and of the vectors of any type.
ELEMENTS_TOGETHER = 64

# Rows of so few elements, whose number is known, are done several at a time.
_SHORT = 8
# Of a transposed operand so many rows are read side by side: their lines stay in the first cache.
_COLUMNS = 64

# Makes the loop over ``i`` from one bound to another, given the strides along it.
Inner = Callable[[Size, Size, list[Product]], list[Node]]
# the index, and where it begins and ends
Axis = tuple[str, Size, Size]


class Operands:
    """The views that loops read and write, each once; pointers to their elements are p0, p1, ..."""

    def __init__(self, sizes: Sizes):
        self.sizes = sizes
        self.views: list[View] = []
        self.places: list[Place] = []
        self._positions: dict[tuple[Place, str], int] = {}

    def add(self, view: View) -> int:
        """Return the position of an operand, which is new if none lies in the same place."""
        place = place_of(view, self.sizes)
        position = self._positions.setdefault((place, view.dtype), len(self.views))
        if position == len(self.views):
            self.views.append(view)
            self.places.append(place)
        return position

    def collapsed(
        self, shape: Sequence[Size], apart: bool = False
    ) -> tuple[list[Size], list[list[Product]]]:
        """Return the dimensions of the loops, and the strides of each operand along them."""
        all_strides = [place.strides for place in self.places]
        extents, strides = collapsed(tuple(shape), all_strides, self.sizes, apart)
        return (extents, strides) if extents else ([1], [[Product(0)] for _ in self.views])

    def pointers(self, indices: Sequence[Size], strides: list[list[Product]]) -> list[Node]:
        """Return the pointers to where the elements at some outer indices begin."""
        return [
            pointer_to(f"p{k}", view.dtype, self.places[k], indices, strides[k])
            for k, view in enumerate(self.views)
        ]

    def element(self, k: int, stride: Product, index: Size | None = None) -> Load:
        """Return an element of the innermost loop, whose index is ``i``."""
        return Load(f"p{k}", self.views[k].dtype, times(index or named("i"), stride.size))


def pointer_to(
    name: str, dtype: str, place: Place, indices: Sequence[Size], strides: Sequence[Product]
) -> Pointer:
    """Return a pointer to the element at some outer indices of what lies at a place."""
    offsets = [offset.size for offset in place.offsets]
    along = zip(indices, strides, strict=False)
    offsets += [times(index, stride.size) for index, stride in along if stride.factor]
    return Pointer(name, dtype, place.name, tuple(offsets))


def over_elements(
    shape: Sequence[Size], operands: Operands, inner: Inner, share: Share | None, every: int = 0
) -> list[Node]:
    """Return loops over all but the last dimension, and in them what ``inner`` makes for the last.

    Parameters
    ----------
    share
        The part of a thread; None: all elements.
    every
        After how many elements they poll for interrupts; 0: never.
    """
    sizes = operands.sizes
    if share is not None and share.dimension >= 0:
        within = shape[share.dimension + 1 :]
        if any(sizes.find(size) != 1 for size in within):
            return _over_rows(shape, operands, inner, share, every)
    extents, strides = operands.collapsed(shape)
    numbers: list[Node] = []
    first: Size = 0
    end = extents[-1]
    outer: tuple[Size, Size] | None = None
    if isinstance(share, OuterRange):
        numbers += range_of_thread(extents[0], ELEMENTS_TOGETHER if len(extents) == 1 else 1)
        outer = named("first"), named("end")
        if len(extents) == 1:
            first, end = outer
    elif share is not None:
        whole, first, end = end, named(share.first), named(share.end)
        rectangle = isinstance(share, Rectangle)
        outer = (named(share.top), named(share.bottom)) if isinstance(share, Rectangle) else None
        if extents[-1] != sizes.find(share.size):
            # One thread alone takes the elements of all rows in one go.
            extents, strides = operands.collapsed(shape, apart=True)
            numbers += _rows_or_all(outer or (0, extents[-2]), (first, end), whole)
            extents[-2], first, end = named("rows"), named("first"), named("end")
            outer = (named("from"), named("rows")) if rectangle else None
    axes: list[Axis] = [(f"i{level}", 0, extent) for level, extent in enumerate(extents)]
    if outer is not None:
        axes[0] = "i0", *outer
    axes[-1] = "i", first, end
    nest = _nest(operands, axes, strides, inner, every)
    return [Block((*numbers, *with_polls(every, unless_empty(extents[1:], nest))))]


def _rows_or_all(rows: tuple[Size, Size], columns: tuple[Size, Size], whole: Size) -> list[Node]:
    """Return the bounds of a thread's columns of all rows, or of all elements where it is alone."""
    several = compared(named("threads"), ">", 1)
    top, bottom = rows
    return [
        *([Number("from", Choice(several, top, 0))] if top != 0 else []),
        Number("rows", Choice(several, bottom, 1)),
        Number("first", Choice(several, columns[0], 0)),
        Number("end", Choice(several, columns[1], whole)),
    ]


def _over_rows(
    shape: Sequence[Size], operands: Operands, inner: Inner, share: Share, every: int
) -> list[Node]:
    """Return the same, of a range along a dimension that is not the last."""
    apart = marks(share.dimension, len(shape))
    all_strides = [apart, *(place.strides for place in operands.places)]
    extents, (marked, *strides) = collapsed(tuple(shape), all_strides, operands.sizes)
    axes: list[Axis] = [(f"i{level}", 0, extent) for level, extent in enumerate(extents)]
    ranged = [mark.factor for mark in marked].index(1)
    axes[ranged] = f"i{ranged}", named(share.first), named(share.end)
    axes[-1] = "i", *axes[-1][1:]
    nest = unless_empty(extents[1:], _nest(operands, axes, strides, inner, every))
    return [Block(tuple(with_polls(every, nest)))]


def _nest(
    operands: Operands, axes: Sequence[Axis], strides: list[list[Product]], inner: Inner, every: int
) -> list[Node]:
    """Return loops over all but the last dimension, the pointers, and the last loop."""
    *around, last = axes
    if around and isinstance(last[2], int) and last[2] <= _SHORT:
        return _with_short_rows(operands, axes, strides, inner, every)
    if _runs_across(axes, strides):
        return _in_columns(operands, axes, strides, inner, every)
    _, first, end = last
    body = [
        *operands.pointers([named(index) for index, _, _ in around], strides),
        *in_blocks(every, first, end, lambda first, end: inner(first, end, _last(strides))),
    ]
    return loops(around, body, bool(every))


def _last(strides: list[list[Product]]) -> list[Product]:
    return [mine[-1] for mine in strides]


def _with_short_rows(
    operands: Operands, axes: Sequence[Axis], strides: list[list[Product]], inner: Inner, every: int
) -> list[Node]:
    """Return the same for rows so short that the compiler does several of them at once."""
    *around, (index, first, end), (_, first_of_row, end_of_row) = axes
    assert isinstance(end_of_row, int)
    indices = [named(index) for index, _, _ in axes[:-1]]
    row = (
        *operands.pointers(indices, strides),
        *inner(first_of_row, end_of_row, _last(strides)),
    )

    def rows(first: Size, end: Size) -> list[Node]:
        return [For(index, first, end, row, form=Form.INDEPENDENT)]

    body = in_blocks(every and max(every // max(end_of_row, 1), 1), first, end, rows)
    return loops(around, body, bool(every))


def _runs_across(axes: Sequence[Axis], strides: list[list[Product]]) -> bool:
    """Return whether an operand's neighbours lie along the last dimension but one, as in a transposed array."""
    if len(axes) < 2 or (isinstance(axes[-1][2], int) and axes[-1][2] <= _COLUMNS):
        return False
    one = Product(1)
    return any(mine[-2] == one and mine[-1].factor and mine[-1] != one for mine in strides)


def _in_columns(
    operands: Operands, axes: Sequence[Axis], strides: list[list[Product]], inner: Inner, every: int
) -> list[Node]:
    """Return the same for some columns at a time, whose lines of the cache are read again for the next row."""
    *around, (_, first, end) = axes
    column, close = named("column"), named("last")
    body = [
        *operands.pointers([named(index) for index, _, _ in around], strides),
        *inner(column, close, _last(strides)),
        *poll_after(difference(close, column), every),
    ]
    columns = (
        Number("last", Call("smaller", (sum_of(column, _COLUMNS), end))),
        *loops(around, body, bool(every)),
    )
    return [For("column", first, end, columns, by=_COLUMNS, polled=bool(every))]


def range_of_thread(size: Size, unit: int) -> list[Node]:
    """Return the range of a thread of elements, of which so many are not parted."""
    thread = named("thread")
    bounds = {"first": thread, "end": sum_of(thread, 1)}
    return [
        Number(name, Call("share", (size, unit, at, named("threads"))))
        for name, at in bounds.items()
    ]
