"""Sums and products of all elements so far along an axis.

Where neighbours do not depend on one another, each row is that before it and its own elements, of columns
that stay in the first cache. Else some rows are done side by side, so that none waits for its last sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.layout import Product, collapsed, marks, place_of
from theano.link.native.ir.loop_nests import (
    Apply,
    Assign,
    Block,
    For,
    Form,
    Let,
    Load,
    Local,
    Node,
    Number,
    Store,
    Value,
    loops,
    named,
    times,
    unless_empty,
)
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Call, Operation, Size, difference, sum_of
from theano.link.native.schedule.accumulate import accumulation, neutral
from theano.link.native.schedule.elements import pointer_to
from theano.link.native.schedule.polls import between_polls, in_blocks, poll_after, with_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.cumulate import Cumulate
from theano.support.data_classes import dataclass

# Columns whose row before is in the first cache, and rows that are done side by side.
_COLUMNS = 2048
_ROWS = 4
_COLUMN, _MANY, _K = named("column"), named("many"), named("k")


@schedules(Cumulate)
def schedule_cumulate(
    statement: Cumulate, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    """Return a pass over the elements, or over a thread's range of a dimension besides the axis."""
    cumulated = _Cumulated(statement, sizes, polls, share)
    return [Block(tuple(with_polls(cumulated.every, cumulated.nodes())))]


@dataclass(frozen=True)
class _Level:
    """One of the loops around each other: its bounds, and whether it is along the axis."""

    index: str
    first: Size
    end: Size
    is_axis: bool

    @property
    def axis(self) -> tuple[str, Size, Size]:
        return self.index, self.first, self.end


class _Cumulated:
    """One such pass as it is made; y is what it writes, and x what it reads."""

    def __init__(self, statement: Cumulate, sizes: Sizes, polls: bool, share: Share | None):
        self.operation, self.dtype = statement.operation, statement.target.dtype
        self.every = between_polls(1) if polls else 0
        self.places = {
            "y": place_of(statement.target, sizes),
            "x": place_of(statement.source, sizes),
        }
        ndim = len(statement.target.shape)
        parted = marks(-1 if share is None else share.dimension, ndim)
        operands = [place.strides for place in self.places.values()]
        extents, (along, shared, *strides) = collapsed(
            statement.target.shape, [marks(statement.axis, ndim), parted, *operands], sizes
        )
        self.strides: dict[str, list[Product]] = dict(zip("yx", strides, strict=True))
        self.levels = []
        for k, (extent, mark, part) in enumerate(zip(extents, along, shared, strict=True)):
            first, end = (0, extent)
            if share is not None and part.factor:
                first, end = named(share.first), named(share.end)  # type: ignore[assignment]
            self.levels.append(_Level(f"i{k}", first, end, bool(mark.factor)))

    def nodes(self) -> list[Node]:
        position = next((k for k, level in enumerate(self.levels) if level.is_axis), None)
        if position is None:
            # along an axis of one element
            self.levels.append(_Level("one", 0, 1, True))
            for strides in self.strides.values():
                strides.append(Product(0))
            position = len(self.levels) - 1
        around = self.levels[:position]
        if position == len(self.levels) - 1:
            nest = self._in_rows(around)
        else:
            nest = self._in_columns(around, position)
        return unless_empty([level.end for level in self.levels], nest)

    # ---- along neighbours ----

    def _in_rows(self, around: list[_Level]) -> list[Node]:
        """Return loops over rows, of which the last some are done side by side."""
        if not around:
            return self._side_by_side([])
        *outer, last = around
        count = difference(last.end, last.first)
        whole = Operation("*", Operation("/", count, _ROWS), _ROWS)
        indices = [named(level.index) for level in outer]

        def row(k: int) -> list[Size]:
            return [*indices, sum_of(named(last.index), k)]

        together = tuple(self._side_by_side([row(k) for k in range(_ROWS)]))
        alone = tuple(self._side_by_side([row(0)]))
        polled = bool(self.every)
        body: list[Node] = [
            Number("whole", sum_of(last.first, whole)),
            For(last.index, last.first, named("whole"), together, by=_ROWS, polled=polled),
            For(last.index, named("whole"), last.end, alone, polled=polled),
        ]
        return loops([level.axis for level in outer], body, polled)

    def _side_by_side(self, rows: list[list[Size]]) -> list[Node]:
        """Return the sums so far of the rows at these indices, all of them in one loop."""
        rows = rows or [[]]
        nodes: list[Node] = []
        body: list[Node] = []
        for number, indices in enumerate(rows):
            nodes += self._pointers(indices, str(number))
            first = neutral(self.operation, self.dtype)
            nodes.append(Let(f"total{number}", self.dtype, first, variable=True))
            total = Local(f"total{number}", self.dtype)
            body += [
                Assign(total.name, self._both(total, self._element("x", _K, str(number)))),
                Store(f"y{number}", times(_K, self.strides["y"][-1].size), total),
            ]

        def some(first: Size, end: Size) -> list[Node]:
            return [For("k", first, end, tuple(body))]

        return [*nodes, *in_blocks(self.every, 0, self.levels[-1].end, some)]

    # ---- across neighbours ----

    def _in_columns(self, around: list[_Level], position: int) -> list[Node]:
        """Return loops over blocks of columns, in which each row follows from the one before it."""
        axis, *between, last = self.levels[position:]
        polled = bool(self.every)
        after = [*(named(level.index) for level in between), _COLUMN]
        before = [named(level.index) for level in around]
        row = named(axis.index)
        nothing = neutral(self.operation, self.dtype)
        rows: list[Node] = [
            Block((*self._pointers([*before, 0, *after]), self._row(nothing))),
            For(
                axis.index,
                1,
                axis.end,
                (
                    *self._pointers([*before, row, *after]),
                    self._pointer("y", "before", [*before, difference(row, 1), *after]),
                    self._row(Load("before", self.dtype, self._at("y", _K))),
                    *poll_after(_MANY, self.every),
                ),
                polled=polled,
            ),
        ]
        many = Number("many", Call("smaller", (_COLUMNS, difference(last.end, _COLUMN))))
        columns = For("column", last.first, last.end, (many, *rows), by=_COLUMNS, polled=polled)
        return loops([one.axis for one in (*around, *between)], [columns], polled)

    def _row(self, before: Value) -> Node:
        total = self._both(before, self._element("x", _K))
        materialized = Store("y", self._at("y", _K), total)
        return For("k", 0, _MANY, (materialized,), form=Form.INDEPENDENT)

    # ---- elements ----

    def _pointers(self, indices: Sequence[Size], suffix: str = "") -> list[Node]:
        return [self._pointer(name, f"{name}{suffix}", indices) for name in self.places]

    def _pointer(self, of: str, name: str, indices: Sequence[Size]) -> Node:
        return pointer_to(name, self.dtype, self.places[of], indices, self.strides[of])

    def _at(self, name: str, index: Size) -> Size:
        return times(index, self.strides[name][-1].size)

    def _element(self, name: str, index: Size, suffix: str = "") -> Load:
        return Load(f"{name}{suffix}", self.dtype, self._at(name, index))

    def _both(self, a: Value, b: Value) -> Apply:
        return Apply(accumulation(self.operation, self.dtype), (a, b))
