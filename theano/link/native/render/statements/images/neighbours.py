"""The windows of images side by side, and what is next to them added to images."""

from __future__ import annotations

from theano.link.native.ir.partitions import Share
from theano.link.native.render.registry import renders
from theano.link.native.render.statements.images.planes import along_in_c, for_each_image, planes_of
from theano.link.native.render.statements.images.windows import nothing_in
from theano.link.native.render.writer import Writer
from theano.link.native.statements.images.neighbours import LEAD, Neighbours
from theano.link.native.statements.images.tasks import Along


@renders(Neighbours)
def neighbours(statement: Neighbours, writer: Writer, share: Share | None) -> list[str]:
    rows_of_image, columns = (along_in_c(one, writer) for one in statement.along)
    views = list(statement._both)
    planes = planes_of(writer, views, LEAD)
    image, window = planes if statement.back else reversed(planes)
    element = window.at("a", "b", "i", "j")
    row, column = "row", "column + j"
    if statement.wraps:
        row = f"tn_wrapped({row}, {rows_of_image.length})"
        column = f"tn_wrapped({column}, {columns.length})"
    at = image.at(row, column)
    move = f"{at} += {element};" if statement.back else f"{element} = {at};"
    body = [
        *(nothing_in(image, [rows_of_image, columns]) if statement.back else []),
        f"for (int64_t a = 0; a < {rows_of_image.count}; a++)",
        f"for (int64_t i = 0; i < {rows_of_image.size}; i++) {{",
        f"const int64_t row = a * {rows_of_image.step} + i - {rows_of_image.pad};",
        f"for (int64_t b = 0; b < {columns.count}; b++) {{",
        f"const int64_t column = b * {columns.step} - {columns.pad};",
        *_row_of_window(statement, rows_of_image, columns, element, move),
        "}",
        "}",
    ]
    elements = " * ".join(str(n) for one in (rows_of_image, columns) for n in (one.count, one.size))
    return for_each_image(writer, views, LEAD, share, body, elements)


def _row_of_window(
    statement: Neighbours, rows: Along, columns: Along, element: str, move: str
) -> list[str]:
    """Return what is done with a row of a window."""
    if statement.wraps:
        return [f"for (int64_t j = 0; j < {columns.size}; j++) {move}"]
    zero = f"{element} = 0;"
    bounds = [
        f"const int outside = row < 0 || row >= {rows.length};",
        f"const int64_t low = outside ? {columns.size} : column < 0 ? -column : 0;",
        f"const int64_t high = tn_smaller({columns.size}, {columns.length} - column);",
    ]
    around = [
        f"for (int64_t j = 0; j < tn_smaller(low, {columns.size}); j++) {zero}",
        f"for (int64_t j = high < low ? low : high; j < {columns.size}; j++) {zero}",
    ]
    inside = f"for (int64_t j = low; j < high; j++) {move}"
    return [*bounds, *([] if statement.back else around), inside]
