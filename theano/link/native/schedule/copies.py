"""Views that are written element by element, and rows that are named by a vector of indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Block,
    Call,
    Fail,
    For,
    Form,
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
from theano.link.native.ir.partitions import ONE, Partition, Rectangle, Share
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import (
    Choice,
    Negative,
    Operation,
    Size,
    compared,
    difference,
    product_of,
    sum_of,
)
from theano.link.native.schedule.accumulate import accumulation
from theano.link.native.schedule.elements import Operands, over_elements, pointer_to
from theano.link.native.schedule.polls import between_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE, CheckRows, Gather, Scatter

# Up to so many elements are copied where they are: a call takes longer.
_FEW = 16


@schedules(Copy)
def schedule_copy(statement: Copy, sizes: Sizes, polls: bool, share: Share | None) -> list[Node]:
    target, source = statement.target, statement.source
    nodes = written(target, source, None, sizes, share, polls)
    if not statement.may_be_same:
        return nodes
    assert isinstance(source, View)
    apart = compared(_first_element(target, sizes), "!=", _first_element(source, sizes))
    return [If(apart, tuple(nodes))]


def _first_element(view: View, sizes: Sizes) -> Size:
    """Return where the first element of a view is."""
    place = place_of(view, sizes)
    first: Size = named(place.name)
    for offset in place.offsets:
        first = sum_of(first, offset.size)
    return first


@schedules(Combine)
def schedule_combine(
    statement: Combine, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    given = statement.target, statement.source, statement.operation
    return written(*given, sizes, share, polls)


def written(
    target: View,
    source: View | Scalar,
    operation: str | None,
    sizes: Sizes,
    share: Share | None = None,
    polls: bool = False,
) -> list[Node]:
    """Return what writes a view, or combines it with a source; all of it, or a thread's share."""
    operands = Operands(sizes)
    to = operands.add(target)
    given = operands.add(_stretched(source, target, sizes)) if isinstance(source, View) else None

    def inner(first: Size, end: Size, strides: list[Product]) -> list[Node]:
        together = given is not None and _side_by_side(target, source, strides)
        if operation is None and together and not (isinstance(end, int) and end <= _FEW):
            count = product_of(difference(end, first), np.dtype(target.dtype).itemsize)
            ends = Address(f"p{to}", first), Address(f"p{given}", first)
            return [Call("copy", (*ends, count))]
        left = operands.element(to, strides[to])
        value: Value = left
        if given is not None:
            value = operands.element(given, strides[given])
        elif isinstance(source, Scalar):
            value = source
        if operation is not None:
            value = Apply(accumulation(operation, target.dtype), (left, value))
        store = Store(left.pointer, left.index, value)
        return [For("i", first, end, (store,), form=Form.INDEPENDENT)]

    return over_elements(target.shape, operands, inner, share, between_polls() if polls else 0)


def _side_by_side(target: View, source: View | Scalar, strides: list[Product]) -> bool:
    """Return whether elements of one type lie side by side in both, so that their bytes are copied."""
    if source.dtype != target.dtype or len(strides) != 2:
        return False
    return all(stride == Product(1) for stride in strides)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)


@schedules(Gather, by_every_thread=True)
def schedule_gather(
    statement: Gather, sizes: Sizes, polls: bool, partition: Partition | None
) -> list[Node]:
    share, of_thread = _within(partition)
    rows = _row(statement.target, "k"), _row(statement.source, "row")
    body = of_thread(written(*rows, None, sizes, share))
    return _for_each_row(sizes, statement.index, statement.source.shape[0], body)


@schedules(Scatter, by_every_thread=True)
def schedule_scatter(
    statement: Scatter, sizes: Sizes, polls: bool, partition: Partition | None
) -> list[Node]:
    share, of_thread = _within(partition)
    given = statement.source
    source = _row(given, "k") if isinstance(given, View) else given
    operation = "add" if statement.add else None
    body = of_thread(written(_row(statement.target, "row"), source, operation, sizes, share))
    rows = statement.target.shape[0]
    return _for_each_row(sizes, statement.index, rows, body, statement.checked)


@schedules(CheckRows)
def schedule_check(
    statement: CheckRows, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    return _for_each_row(sizes, statement.index, statement.rows, [])


def _within(partition: Partition | None):
    """Return a thread's share of each row, and what leaves out the rows of other threads."""

    def where(condition: Size, nodes: Sequence[Node]) -> list[Node]:
        return [If(condition, tuple(nodes))]

    def rows(first: str, end: str) -> Size:
        k = named("k")
        return Operation("&&", compared(k, ">=", named(first)), compared(k, "<", named(end)))

    if isinstance(partition, Rectangle):
        mine = rows(partition.top, partition.bottom)
        columns = Share(0, partition.size, partition.unit, partition.first, partition.end)
        return columns, lambda nodes: where(mine, nodes)
    if isinstance(partition, Share) and partition.dimension:
        return replace(partition, dimension=partition.dimension - 1), list
    if isinstance(partition, Share):
        mine = rows(partition.first, partition.end)
        return None, lambda nodes: where(mine, nodes)
    if partition == ONE:
        return None, lambda nodes: where(compared(named("thread"), "==", 0), nodes)
    return None, list


def _for_each_row(
    sizes: Sizes, indices: View, count: Size, body: Sequence[Node], checked: bool = False
) -> list[Node]:
    """Return a loop over indices, each of them as the number of a row."""
    place = place_of(indices, sizes)
    index: Value = Load("indices", indices.dtype, times(named("k"), place.strides[0].size))
    if indices.dtype != "int64":
        # unsigned numbers compare with negative ones only as signed ones
        of_64_bits = "signed" if indices.dtype == "uint64" else "cast"
        index = Apply(Expression(of_64_bits, of_64_bits, None, "int64"), (index,))
    given, count = named("given"), sizes.find(count)
    out = Operation("||", compared(given, "<", Negative(count)), compared(given, ">=", count))
    row = Choice(compared(given, "<", 0), sum_of(given, count), given)
    each = [
        Let("given", "int64", index),
        *([] if checked else [If(out, (Fail(*OUT_OF_RANGE),))]),
        *([Number("row", row), *body] if body else []),
    ]
    rows = For("k", 0, sizes.find(indices.shape[0]), tuple(each))
    return [Block((pointer_to("indices", indices.dtype, place, (), ()), rows))]


def _row(view: View, name: str) -> View:
    """Return a row, whose number has a name, of a view, which begins at the front of its first axis."""
    axis, index = view.axes[0], named(name)
    start = list(view.start)
    if axis is not None:
        if start[axis] != 0 or view.steps[0] != 1:
            start[axis] = Operation("+", start[axis], Operation("*", view.steps[0], index))
        else:
            start[axis] = index
    return View(view.buffer, view.shape[1:], view.axes[1:], view.steps[1:], tuple(start))
