"""A step writes the row of a state over the row before it, which is read once and element by element.

Memory that was just read is written without another line of the cache. Check: a state of which a step
reads the row before and nothing else, in the one map that computes the new row, each element where it is
written; and nothing else in the step reads either. Transformation: where two rows are kept, as where only
the last is wanted, all steps but the last write where they read, and the last one beside it.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.loop import Loop, RowWrite
from theano.link.native.passes.results_in_operands import whole_of
from theano.link.native.statements.base import as_kind
from theano.link.native.statements.map import Map


def states_in_place(loop: Loop) -> None:
    """Find the states of a loop that may be written where they are read."""
    if loop.condition is not None:
        # which step is the last is not known before it
        return
    for write in loop.writes:
        argument = write.argument
        read = [row for row, of, _ in loop.rows if of is argument]
        if argument.kind == "ring" and argument.taps == (-1,) and len(read) == 1:
            (row,) = read
            if isinstance(row, Buffer) and write.row is not None:
                argument.in_place = _is_element_by_element(loop, write, row)


def _is_element_by_element(loop: Loop, write: RowWrite, before: Buffer) -> bool:
    """Return whether one map reads the row before and writes the new one, and nothing else touches them."""
    memory = {before, write.row}
    touching = [
        statement
        for statement in loop.step.statements
        if not memory.isdisjoint({view.buffer.root() for view in statement.views()})
        or not memory.isdisjoint({buffer.root() for buffer in statement.written()})
    ]
    if len(touching) != 1 or (step := as_kind(touching[0], Map)) is None:
        return False
    written = [
        compute.buffer
        for compute in step.body
        if compute.stored and compute.buffer is not None and compute.buffer.root() is write.row
    ]
    views = [
        value
        for value in step.values_read()
        if isinstance(value, View) and value.buffer.root() in memory
    ]
    return (
        [whole_of(buffer) for buffer in written] == [write.row]
        and bool(views)
        and all(view.buffer is before and view.whole for view in views)
        and not any(
            isinstance(other.value, View) and other.value.buffer.root() is before
            for other in loop.writes
        )
    )
