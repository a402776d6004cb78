"""Elements along the last axis that are named by a vector of indices, row by row."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.loop_nests import (
    Apply,
    For,
    Form,
    Let,
    Load,
    Node,
    Number,
    Store,
    Value,
    named,
    times,
)
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Choice, Size, compared, sum_of
from theano.link.native.schedule.accumulate import accumulation
from theano.link.native.schedule.elements import Operands, over_elements
from theano.link.native.schedule.polls import between_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.columns_by_index import TakeColumns, UpdateColumns


@schedules(TakeColumns)
def schedule_take(
    statement: TakeColumns, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    columns = _Columns(statement, statement.source, sizes)
    to = columns.operands.add(statement.target)

    def inner(first: Size, end: Size, strides: list[Product]) -> list[Node]:
        target = columns.operands.element(to, strides[to])
        materialized = Store(target.pointer, target.index, columns.named)
        return [
            For("i", first, end, (*columns.place(strides), materialized), form=Form.INDEPENDENT)
        ]

    every = between_polls() if polls else 0
    return over_elements(statement.target.shape, columns.operands, inner, share, every)


@schedules(UpdateColumns)
def schedule_update(
    statement: UpdateColumns, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    columns, source = _Columns(statement, statement.target, sizes), statement.source
    of = columns.operands.add(source) if isinstance(source, View) else None

    def inner(first: Size, end: Size, strides: list[Product]) -> list[Node]:
        left = columns.named
        value: Value | Scalar | View = source
        if of is not None:
            value = columns.operands.element(of, strides[of])
        if statement.add:
            value = Apply(accumulation("add", left.dtype), (left, value))  # type: ignore[arg-type]
        materialized = Store(left.pointer, left.index, value)  # type: ignore[arg-type]
        return [For("i", first, end, (*columns.place(strides), materialized))]

    every = between_polls() if polls else 0
    return over_elements(statement.shape, columns.operands, inner, share, every)


class _Columns:
    """The indices of a statement, and the rows of a view in which they name elements."""

    def __init__(self, statement: TakeColumns | UpdateColumns, view: View, sizes: Sizes):
        self.operands = Operands(sizes)
        index, leading = statement.index, view.ndim - 1
        shape = (*view.shape[:-1], index.shape[0])
        self._index = self.operands.add(
            View(
                index.buffer,
                shape,
                (None,) * leading + index.axes,
                (0,) * leading + index.steps,
                index.start,
            )
        )
        row = View(view.buffer, shape, (*view.axes[:-1], None), (*view.steps[:-1], 0), view.start)
        self._row, self._from_end = self.operands.add(row), statement.from_end
        self._stride, self._count = place_of(view, sizes).strides[-1], sizes.find(view.shape[-1])
        at = times(named("column"), self._stride.size)
        self.named = Load(f"p{self._row}", view.dtype, at)

    def place(self, strides: list[Product]) -> list[Node]:
        """Return what names the place of an element in its row."""
        index = self.operands.element(self._index, strides[self._index])
        given = named("given")
        column: Size = given
        if self._from_end:
            column = Choice(compared(given, "<", 0), sum_of(given, self._count), given)
        return [Let("given", "int64", index), Number("column", column)]
