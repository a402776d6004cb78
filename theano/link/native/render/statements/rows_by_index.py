"""Rows that are named by a vector of indices: read, written, and checked."""

from __future__ import annotations

from dataclasses import replace

from theano.link.native.ir.ir import View
from theano.link.native.ir.sharing import ONE, Share, Way
from theano.link.native.ir.symbolic import Name, Operation, Size
from theano.link.native.render.registry import renders
from theano.link.native.render.statements.copies import written
from theano.link.native.render.writer import Writer
from theano.link.native.statements.rows_by_index import OUT_OF_RANGE, CheckRows, Gather, Scatter


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
