"""Rows that are named by a vector of indices: read, written, and checked.

Each thread checks all of the indices, so that all of them stop where one is out of range.
"""

from __future__ import annotations

from dataclasses import replace

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Scalar, Size, View
from theano.link.native.ir.sharing import EVERY, ONE, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Name, Operation
from theano.link.native.statements.base import (
    AsFunction,
    Checks,
    Operand,
    Statement,
    Touch,
    Work,
)
from theano.link.native.statements.copy import written
from theano.link.native.statements.costs import MOVE
from theano.link.native.text.writer import Writer

# what the errors of all of these are
OUT_OF_RANGE = IndexError, "index out of range"


@dataclass(eq=False)
class Gather(Statement):
    """``target[k] = source[index[k]]`` for rows."""

    target: View
    source: View
    index: View

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = True

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        rows = (self.target.shape[0], self.index.shape[0])
        return [rows, *zip(self.target.shape[1:], self.source.shape[1:], strict=True)]

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return sharing.by_columns(sizes, self.target.shape, self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, self.index, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return []

    def moved(self) -> list[View]:
        return [self.target, self.target, self.index]

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        return self.lines_of_a_thread(writer, share)

    def lines_of_a_thread(self, writer: Writer, way: Way | None) -> list[str]:
        lines = _for_each_row(writer, self.index, self.source.shape[0])
        share, among = _within(way)
        inner = written(_row(self.target, "k"), _row(self.source, "row"), None, writer, share)
        return [*lines, *among, *inner, "}"]


@dataclass(eq=False)
class Scatter(Statement):
    """``target[index[k]] += source[k]`` for rows, or ``=``; `checked`: the indices are in range."""

    target: View
    source: View | Scalar
    index: View
    add: bool
    checked: bool = False

    as_function = AsFunction.IN_LONG_SEGMENTS

    @property
    def may_fail(self) -> bool:
        return not self.checked

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def values_read(self) -> list[Operand]:
        return [self.source, self.index]

    def values_written(self) -> list[Operand]:
        return [self.target]

    def checks(self) -> Checks | None:
        alone = CheckRows(self.index, self.target.shape[0])
        return Checks(alone, [self.index], replace(self, checked=True))

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        # several of the rows may be the same one
        return sharing.by_columns(sizes, (1, *self.target.shape[1:]), self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, self.index, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, (*self.index.shape, *self.target.shape[1:]))]

    def operations(self) -> list[Work]:
        return []

    def moved(self) -> list[View]:
        source = [self.source, self.source] if isinstance(self.source, View) else []
        return [*source, self.index]

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        return self.lines_of_a_thread(writer, share)

    def lines_of_a_thread(self, writer: Writer, way: Way | None) -> list[str]:
        lines = _for_each_row(writer, self.index, self.target.shape[0], self.checked)
        share, among = _within(way)
        source = _row(self.source, "k") if isinstance(self.source, View) else self.source
        operation = "add" if self.add else None
        return [
            *lines,
            *among,
            *written(_row(self.target, "row"), source, operation, writer, share),
            "}",
        ]


@dataclass(eq=False)
class CheckRows(Statement):
    """Fail unless all indices are those of one of so many rows."""

    index: View
    rows: Size

    as_function = AsFunction.IN_LONG_SEGMENTS
    may_fail = True

    def errors(self) -> list[tuple[type[Exception], str]]:
        return [OUT_OF_RANGE]

    def values_read(self) -> list[Operand]:
        return [self.index]

    def values_written(self) -> list[Operand]:
        return []

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return EVERY

    def touches(self, share: Share | None) -> list[Touch]:
        return [Touch(self.index, None)]

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.index.shape)]

    def operations(self) -> list[Work]:
        return []

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        return [*_for_each_row(writer, self.index, self.rows), "}"]


def _touches(target: View, source: View | Scalar, index: View, share: Share | None) -> list[Touch]:
    d = None if share is None else share.dimension
    # what is shared out is not the rows that indices name
    reads = [Touch(source, d or None)] if isinstance(source, View) else []
    return [Touch(index, None), *reads, Touch(target, d, True)]


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
    given = Scalar(f"({index.pointer})[k * ({index.strides[0].text})]", indices.dtype)
    many = writer.size(count)
    lines = [
        f"for (int64_t k = 0; k < {writer.size(indices.shape[0])}; k++) {{",
        f"int64_t row = {given.signed};",
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
