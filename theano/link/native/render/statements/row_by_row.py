"""Passes over arrays that have their rows in common, some rows at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from theano.link.native.ir.layout import Product
from theano.link.native.ir.sharing import Share
from theano.link.native.render.looks import between_looks, declared, going_on, look_after
from theano.link.native.render.registry import about, libraries, lines_of, renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.row_by_row import RowByRow

# Elements of the rows that are done together: with what is made of them they fit the second cache.
ELEMENTS = 8192


def _libraries(statement: RowByRow) -> set[str]:
    return set(chain.from_iterable(libraries(part) for part in statement.parts))


def _about(statement: RowByRow) -> str:
    return "row by row: " + ", ".join(about(part) for part in statement.parts if about(part))


@renders(RowByRow, about=_about, libraries=_libraries)
def row_by_row(statement: RowByRow, writer: Writer, share: Share | None) -> list[str]:
    """Blocks of rows, all of them or those of a thread, with looks for signals between them."""
    looks = between_looks(len(statement.parts)) if writer.looks else 0
    shape = [writer.sizes.find(size) for size in statement.shape]
    rows, *row = map(writer.size, shape)
    first, end = ("0", rows) if share is None else (share.first, share.end)
    length = Product(1)
    for size in row:
        length = length.times(size)
    block = Share(0, shape[0], "1", "top", "bottom")
    within = replace(writer, looks=False)
    return [
        "{",
        *declared(looks),
        f"const int64_t row_length = {length.text};",
        f"const int64_t together = 1 + {ELEMENTS - 1} / (row_length + 1);",
        f"for (int64_t top = {first}; top < {end}{going_on(looks)}; top += together) {{",
        f"const int64_t bottom = tn_smaller(top + together, {end});",
        *(line for part in statement.parts for line in lines_of(part, within, block)),
        *look_after("(bottom - top) * row_length", looks),
        "}",
        "}",
    ]
