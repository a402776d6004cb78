"""Rows and columns that a vector of indices names; all blocks check all of the indices."""

from __future__ import annotations

from typing import Any

from theano.link.cuda.nodes import BeginChecks, EndChecks, ForLanes
from theano.link.cuda.schedule.elements import over_elements
from theano.link.cuda.schedule.registry import Block, schedules
from theano.link.native.ir import loop_nests as nests
from theano.link.native.ir.ir import View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.loop_nests import (
    Apply,
    Fail,
    For,
    If,
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
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import (
    Choice,
    Negative,
    Operation,
    Size,
    compared,
    sum_of,
)
from theano.link.native.schedule.accumulate import accumulation
from theano.link.native.schedule.elements import Operands, pointer_to
from theano.link.native.statements.columns_by_index import TakeColumns, UpdateColumns
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE, CheckRows, Gather, Scatter


def _as_signed(index: Load) -> Value:
    """Return an index as an integer of 64 bits."""
    if index.dtype == "int64":
        return index
    conversion = "signed" if index.dtype == "uint64" else "cast"
    return Apply(Expression(conversion, conversion, None, "int64"), (index,))


def _checks(index: View, count: Size, block: Block) -> list[Any]:
    """Return the check that all indices are those of one of so many rows."""
    place = place_of(index, block.fixed.sizes)
    given, count = named("given"), block.fixed.sizes.find(count)
    out = Operation("||", compared(given, "<", Negative(count)), compared(given, ">=", count))
    load = Load("indices", index.dtype, times(named("e"), place.strides[0].size))
    body = (Let("given", "int64", _as_signed(load)), If(out, (Fail(*OUT_OF_RANGE),)))
    return [
        nests.Block(
            (
                BeginChecks(),  # type: ignore[arg-type]
                pointer_to("indices", index.dtype, place, (), ()),
                ForLanes("e", block.fixed.sizes.find(index.shape[0]), body),  # type: ignore[arg-type]
                EndChecks(*OUT_OF_RANGE),  # type: ignore[arg-type]
            )
        )
    ]


@schedules(CheckRows)
def schedule_check(statement: CheckRows, block: Block, share: Share | None) -> list[Any]:
    return _checks(statement.index, statement.rows, block)


@schedules(Gather)
def schedule_gather(statement: Gather, block: Block, share: Share | None) -> list[Any]:
    source, target, index = statement.source, statement.target, statement.index
    sizes = block.fixed.sizes
    operands = Operands(sizes)
    to = operands.add(target)
    of = operands.add(_along_first(index, target.shape))
    row = operands.add(_without_first(source, target.shape))
    stride, count = place_of(source, sizes).strides[0], sizes.find(source.shape[0])

    def inner(strides: list[Product]) -> list[Node]:
        left = operands.element(to, strides[to])
        at = operands.element(row, strides[row])
        taken = Load(at.pointer, at.dtype, sum_of(at.index, times(named("row"), stride.size)))
        given = _as_signed(operands.element(of, strides[of]))
        return [*_number_of_row(given, count), Store(left.pointer, left.index, taken)]

    rest = over_elements(target.shape, operands, inner, share, block)
    return [*_checks(index, source.shape[0], block), *rest]


def _number_of_row(index: Value, count: Size, name: str = "row") -> list[Node]:
    given = named("given")
    row = Choice(compared(given, "<", 0), sum_of(given, count), given)
    return [Let("given", "int64", index), Number(name, row)]


def _along_first(index: View, shape: tuple[Size, ...]) -> View:
    """Return indices of rows, the same for all elements of a row."""
    others = len(shape) - 1
    axes = (index.axes[0], *(None,) * others)
    return View(index.buffer, shape, axes, (index.steps[0], *(0,) * others), index.start)


def _without_first(view: View, shape: tuple[Size, ...]) -> View:
    """Return the first row of a view, as often as there are rows."""
    steps = (0, *view.steps[1:])
    return View(view.buffer, shape, (None, *view.axes[1:]), steps, view.start)


@schedules(Scatter)
def schedule_scatter(statement: Scatter, block: Block, share: Share | None) -> list[Any]:
    """Return passes of lanes over the elements of a row, each through all indices: rows may be named twice."""
    target, source, index = statement.target, statement.source, statement.index
    sizes = block.fixed.sizes
    shape = (1, *target.shape[1:])
    operands = Operands(sizes)
    to = operands.add(_without_first(target, shape))
    of = operands.add(_without_first(source, shape)) if isinstance(source, View) else None
    stride, count = place_of(target, sizes).strides[0], sizes.find(target.shape[0])
    place = place_of(index, sizes)

    def inner(strides: list[Product]) -> list[Node]:
        k = named("k")
        left = operands.element(to, strides[to])
        left = Load(left.pointer, left.dtype, sum_of(left.index, times(named("row"), stride.size)))
        value: Any = source
        if of is not None:
            assert isinstance(source, View)
            step = place_of(source, sizes).strides[0]
            at = operands.element(of, strides[of])
            value = Load(at.pointer, at.dtype, sum_of(at.index, times(k, step.size)))
        if statement.add:
            value = Apply(accumulation("add", target.dtype), (left, value))
        load = Load("indices", index.dtype, times(k, place.strides[0].size))
        body = [
            *_number_of_row(_as_signed(load), count),
            Store(left.pointer, left.index, value),
        ]
        return [
            pointer_to("indices", index.dtype, place, (), ()),
            For("k", 0, sizes.find(index.shape[0]), tuple(body)),
        ]

    checks = [] if statement.checked else _checks(index, target.shape[0], block)
    return [*checks, *over_elements(shape, operands, inner, share, block)]


@schedules(TakeColumns)
def schedule_take(statement: TakeColumns, block: Block, share: Share | None) -> list[Any]:
    source, target = statement.source, statement.target
    sizes = block.fixed.sizes
    operands = Operands(sizes)
    to = operands.add(target)
    of = operands.add(_along_last(statement.index, target.shape))
    row = operands.add(_without_last(source, target.shape))
    stride, count = place_of(source, sizes).strides[-1], sizes.find(source.shape[-1])

    def inner(strides: list[Product]) -> list[Node]:
        left = operands.element(to, strides[to])
        at = operands.element(row, strides[row])
        taken = Load(at.pointer, at.dtype, sum_of(at.index, times(named("column"), stride.size)))
        given = _as_signed(operands.element(of, strides[of]))
        column = _number_of_row(given, count, "column")
        return [*column, Store(left.pointer, left.index, taken)]

    return over_elements(target.shape, operands, inner, share, block)


def _along_last(index: View, shape: tuple[Size, ...]) -> View:
    others = len(shape) - 1
    axes, steps = (*(None,) * others, *index.axes), (*(0,) * others, *index.steps)
    return View(index.buffer, shape, axes, steps, index.start)


def _without_last(view: View, shape: tuple[Size, ...]) -> View:
    return View(view.buffer, shape, (*view.axes[:-1], None), (*view.steps[:-1], 0), view.start)


@schedules(UpdateColumns)
def schedule_update(statement: UpdateColumns, block: Block, share: Share | None) -> list[Any]:
    """Return passes of lanes over rows, each through all indices: columns may be named twice."""
    target, source, index = statement.target, statement.source, statement.index
    sizes = block.fixed.sizes
    shape = (*target.shape[:-1], 1)
    operands = Operands(sizes)
    to = operands.add(_without_last(target, shape))
    of = operands.add(_without_last(source, shape)) if isinstance(source, View) else None
    stride, count = place_of(target, sizes).strides[-1], sizes.find(target.shape[-1])
    place = place_of(index, sizes)

    def inner(strides: list[Product]) -> list[Node]:
        k = named("k")
        base = operands.element(to, strides[to])
        at = sum_of(base.index, times(named("column"), stride.size))
        left = Load(base.pointer, base.dtype, at)
        value: Any = source
        if of is not None:
            assert isinstance(source, View)
            step = place_of(source, sizes).strides[-1]
            of_source = operands.element(of, strides[of])
            along = sum_of(of_source.index, times(k, step.size))
            value = Load(of_source.pointer, of_source.dtype, along)
        if statement.add:
            value = Apply(accumulation("add", target.dtype), (left, value))
        load = Load("indices", index.dtype, times(k, place.strides[0].size))
        body = [
            *_number_of_row(_as_signed(load), count, "column"),
            Store(left.pointer, left.index, value),
        ]
        return [
            pointer_to("indices", index.dtype, place, (), ()),
            For("k", 0, sizes.find(index.shape[0]), tuple(body)),
        ]

    return over_elements(shape, operands, inner, share, block)
