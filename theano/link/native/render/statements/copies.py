"""Views that are written element by element, and rows that are named by a vector of indices."""

from __future__ import annotations

from dataclasses import replace

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.sharing import ONE, Share, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Name, Operation, Size
from theano.link.native.render.accumulate import ACCUMULATE
from theano.link.native.render.looks import between_looks
from theano.link.native.render.nests import Operands, element, nest
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE, CheckRows, Gather, Scatter


@renders(Copy)
def copy(statement: Copy, writer: Writer, share: Share | None) -> list[str]:
    lines = written(statement.target, statement.source, None, writer, share, writer.looks)
    if not statement.may_be_same:
        return lines
    assert isinstance(statement.source, View)
    target, source = writer.place(statement.target), writer.place(statement.source)
    return [f"if ({target.pointer} != {source.pointer}) {{", *lines, "}"]


@renders(Combine)
def combine(statement: Combine, writer: Writer, share: Share | None) -> list[str]:
    return written(
        statement.target, statement.source, statement.operation, writer, share, writer.looks
    )


def written(
    target: View,
    source: View | Scalar,
    operation: str | None,
    writer: Writer,
    share: Share | None = None,
    looks: bool = False,
) -> list[str]:
    """Lines that write a view, or combine it with a source; all of it, or a thread's share.

    Where they look up for signals, they end early when one came.
    """
    operands = Operands(writer)
    to = operands.add(target)
    given = None
    if isinstance(source, View):
        given = operands.add(_stretched(source, target, writer.sizes))

    def inner(first: str, end: str, strides: list[Product]) -> list[str]:
        if operation is None and _side_by_side(target, source, given, strides) and not _few(end):
            count = f"({end}) - {first}" if first != "0" else f"({end})"
            return [f"tn_copy(p{to} + {first}, p{given} + {first}, ({count}) * sizeof *p{to});"]
        left = element(to, strides[to])
        if given is None:
            assert isinstance(source, Scalar)
            right = writer.number(source)
        else:
            right = element(given, strides[given])
        if operation is not None:
            right = ACCUMULATE[operation].format(left, right)
        return ["TN_INDEPENDENT", f"for (int64_t i = {first}; i < {end}; i++) {left} = {right};"]

    between = between_looks() if looks else 0
    return nest(target.shape, operands, inner, share, between)


# Up to so many elements are copied where they are: a call takes longer.
FEW = 16


def _few(end: str) -> bool:
    return end.isdigit() and int(end) <= FEW


def _side_by_side(
    target: View, source: View | Scalar, given: int | None, strides: list[Product]
) -> bool:
    """Whether elements of one type lie side by side in both, so that their bytes are copied."""
    if given is None or source.dtype != target.dtype or len(strides) != 2:
        return False
    return all(stride == Product(1) for stride in strides)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)


@renders(Gather, by_every_thread=True)
def gather(statement: Gather, writer: Writer, way: Way | None) -> list[str]:
    lines = _for_each_row(writer, statement.index, statement.source.shape[0])
    share, among = _within(way)
    inner = written(_row(statement.target, "k"), _row(statement.source, "row"), None, writer, share)
    return [*lines, *among, *inner, "}"]


@renders(Scatter, by_every_thread=True)
def scatter(statement: Scatter, writer: Writer, way: Way | None) -> list[str]:
    lines = _for_each_row(writer, statement.index, statement.target.shape[0], statement.checked)
    share, among = _within(way)
    source = _row(statement.source, "k") if isinstance(statement.source, View) else statement.source
    operation = "add" if statement.add else None
    return [
        *lines,
        *among,
        *written(_row(statement.target, "row"), source, operation, writer, share),
        "}",
    ]


@renders(CheckRows)
def check_rows(statement: CheckRows, writer: Writer, share: Share | None) -> list[str]:
    return [*_for_each_row(writer, statement.index, statement.rows), "}"]


def _within(way: Way | None) -> tuple[Share | None, list[str]]:
    """A thread's share of each row, and the lines that leave out the rows of other threads."""
    if isinstance(way, Share):
        if way.dimension:
            return replace(way, dimension=way.dimension - 1), []
        return None, [f"if (k < {way.first} || k >= {way.end}) continue;"]
    return None, ["if (thread) continue;"] if way == ONE else []


def _for_each_row(writer: Writer, indices: View, count: Size, checked: bool = False) -> list[str]:
    """The beginning of a loop over indices, each of them as the number of a row."""
    index = writer.place(indices)
    given = f"({index.pointer})[k * ({index.strides[0].text})]"
    # unsigned numbers compare with negative ones only as signed ones
    given = f"tn_signed({given})" if indices.dtype == "uint64" else given
    many = writer.size(count)
    lines = [
        f"for (int64_t k = 0; k < {writer.size(indices.shape[0])}; k++) {{",
        f"int64_t row = {given};",
    ]
    if not checked:
        lines.append(f"if (row < -({many}) || row >= {many}) {writer.fails(*OUT_OF_RANGE)}")
    return [*lines, f"if (row < 0) row += {many};"]


def _row(view: View, name: str) -> View:
    """A row, whose number has a name, of a view, which begins at the front of its first axis."""
    axis, index = view.axes[0], Name(name)
    start = list(view.start)
    if axis is not None:
        if start[axis] != 0 or view.steps[0] != 1:
            start[axis] = Operation("+", start[axis], Operation("*", view.steps[0], index))
        else:
            start[axis] = index
    return View(view.buffer, view.shape[1:], view.axes[1:], view.steps[1:], tuple(start))
