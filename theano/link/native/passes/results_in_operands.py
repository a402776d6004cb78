"""A result of a map takes the memory of an operand that nothing needs afterwards.

Memory that was just read is written without being fetched again, and large arrays are fewer. Check:
a temporary of the same type and shape, whose elements the map reads in its own order, and nothing
after it; memory of the result that nothing has touched before, and that is no input's. Transformation:
the temporary is computed where the result will be, or, where it has memory under another shape, the
result is another name for it. So a gradient has the memory of the parameter's next value.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.passes.share_memory import first_uses, last_uses
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.step_blocks import StepBlocks
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class _Part:
    """A statement, or a part of one.

    Attributes
    ----------
    views
        All that is read and written while it is done.
    group
        The number of the statement that it is a part of.
    repeats
        Whether that does its parts again and again.
    """

    statement: Statement
    views: list[View]
    group: int
    repeats: bool


def results_in_operands(segment: Segment) -> None:
    """Place temporaries where the results are that maps make of them, outside loops."""
    parts = [
        part
        for number, statement in enumerate(segment.step.statements)
        for part in _parts_of(statement, number)
    ]
    statements = [part.statement for part in parts]
    last, first = last_uses(statements), first_uses(statements)
    own = {output.buffer for output in segment.outputs if output.overwrites is None}
    for position, part in enumerate(parts):
        for compute in part.statement.elementwise():
            if compute.buffer is None or not compute.materialized:
                continue
            result = whole_of(compute.buffer)
            if not (_is_own(result, own) and first.get(result, position) == position):
                continue
            for view in part.statement.views():
                owner = view.buffer.root()
                needed = last[owner] > position
                if part.repeats and parts[first[owner]].group != part.group:
                    # the next block reads it again
                    needed = True
                if not needed and _may_have(part, view.buffer, result, segment.step.sizes):
                    _place(view.buffer, result)
                    first[result], last[owner] = first[owner], last[result]
                    break


def _parts_of(statement: Statement, number: int) -> list[_Part]:
    blocks = as_kind(statement, StepBlocks)
    if blocks is not None:
        return [_Part(one, one.views(), number, True) for one in blocks.parts]
    parts = statement.in_order()
    # rows of all of them are done together
    views = [view for part in parts for view in part.views()]
    return [_Part(one, views, number, False) for one in parts]


def whole_of(buffer: Buffer) -> Buffer:
    """Return what a buffer is stored in, if it is all of it."""
    while buffer.place is not None and buffer.place.whole:
        buffer = buffer.place.buffer
    return buffer


def _is_own(result: Buffer, outputs: set[Buffer]) -> bool:
    """Return whether a result has its own memory, not that of an input."""
    return result in outputs or (result.role == "temporary" and result.root() is result)


def _may_have(part: _Part, operand: Buffer, result: Buffer, sizes: Sizes) -> bool:
    """Return whether a result may have the memory of an operand: a large temporary, and like the result."""
    owner = operand.root()
    return (
        not sizes.known_below(operand.shape, FEW)
        and owner.role == "temporary"
        and (result.role == "temporary" or operand.source is None)
        and _is_all_of_memory(operand)
        and operand.dtype == result.dtype
        and [*map(sizes.find, operand.shape)] == [*map(sizes.find, result.shape)]
        and owner not in {buffer.root() for buffer in part.statement.written()}
        and all(
            _shows_all(view, operand, part.repeats, sizes)
            for view in part.views
            if view.buffer.root() is owner
        )
    )


def _is_all_of_memory(buffer: Buffer) -> bool:
    """Return whether a buffer is the owner of its memory, or another name for all of it."""
    while buffer.source is not None:
        if not buffer.source.whole:
            return False
        buffer = buffer.source.buffer
    return buffer.place is None


def _shows_all(view: View, buffer: Buffer, repeats: bool, sizes: Sizes) -> bool:
    """Return whether a view is all of a buffer in its order; in blocks, all rows of a block."""
    while view.whole and view.buffer is not buffer and view.buffer.place is not None:
        view = view.buffer.place
    if view.buffer is not buffer or not repeats:
        return view.whole and view.buffer is buffer
    return (
        view.axes == tuple(range(len(buffer.shape)))
        and view.steps == (1,) * len(buffer.shape)
        and view.start == (0,) * len(buffer.shape)
        and [*map(sizes.find, view.shape[1:])] == [*map(sizes.find, buffer.shape[1:])]
    )


def _place(operand: Buffer, result: Buffer) -> None:
    if operand.source is None:
        operand.place = View.of(result)
    else:
        result.source = View.of(operand)
