"""Passes over arrays that have their rows in common, some rows at a time."""

from __future__ import annotations

from theano.link.native.ir.loop_nests import Block, For, Node, Number, named
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import (
    Call,
    Operation,
    difference,
    product_of,
    product_of_all,
    sum_of,
)
from theano.link.native.schedule.polls import between_polls, poll_after, with_polls
from theano.link.native.schedule.registry import nest_of, schedules
from theano.link.native.statements.row_by_row import RowByRow

# Elements of the rows that are done together: with what is made from them they fit the second cache.
ELEMENTS = 8192


@schedules(RowByRow)
def schedule_row_by_row(
    statement: RowByRow, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    """Return blocks of rows, all of them or those of a thread, with polls between them."""
    every = between_polls(len(statement.parts)) if polls else 0
    rows, *row = map(sizes.find, statement.shape)
    first, end = (0, rows) if share is None else (named(share.first), named(share.end))
    length = product_of_all(row)
    top, bottom, together = map(named, ("top", "bottom", "together"))
    block = Share(0, rows, "1", "top", "bottom")
    body = [
        Number("bottom", Call("smaller", (sum_of(top, together), end))),
        *(node for part in statement.parts for node in nest_of(part, sizes, False, block)),
        *poll_after(product_of(difference(bottom, top), named("row_length")), every),
    ]
    fitting = Operation("/", ELEMENTS - 1, sum_of(named("row_length"), 1))
    return [
        Block(
            (
                Number("row_length", length),
                Number("together", sum_of(1, fitting)),
                *with_polls(
                    every, [For("top", first, end, tuple(body), by=together, polled=bool(every))]
                ),
            )
        )
    ]
