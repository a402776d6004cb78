"""A step writes the row of a state over the row before it, which is read once and element by element.

Memory that was just read is written without another line of the cache. Check: a state of which a step
reads the row before and nothing else, in the one map that computes the new row, each element where it is
written, and nothing else in the step reads either; or a generator's words, which are copied to the new row
before they advance there. Transformation: where two rows are kept, as where only the last is wanted, all
steps but the last write where they read, and the last one next to it.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.loop import Loop, RowWrite
from theano.link.native.passes.results_in_operands import whole_of
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map


def states_in_place(loop: Loop) -> None:
    """Find the states of a loop that may be written where they are read."""
    if loop.condition is not None:
        # which step is the last is not known before it
        return
    for write in loop.writes:
        argument = write.argument
        read = [row for row, of, _ in loop.rows if of is argument]
        if argument.taps != (-1,) or len(read) != 1 or write.row is None:
            continue
        (row,) = read
        if argument.kind == "ring" and isinstance(row, Buffer):
            argument.in_place = _is_element_by_element(loop, write, row)
        elif argument.kind == "untraced" and isinstance(row, Buffer):
            copy = _copy_before_all_else(loop, write, row)
            if copy is not None:
                argument.in_place = copy.may_be_same = True


def _is_element_by_element(loop: Loop, write: RowWrite, before: Buffer) -> bool:
    """Return whether one map reads the row before and writes the new one, and nothing else touches them."""
    memory = {before, write.row}
    touching = [s for s in loop.step.statements if not memory.isdisjoint(_touched(s))]
    if len(touching) != 1 or (step := as_kind(touching[0], Map)) is None:
        return False
    written = [
        compute.buffer
        for compute in step.body
        if compute.materialized
        and compute.buffer is not None
        and compute.buffer.root() is write.row
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


def _copy_before_all_else(loop: Loop, write: RowWrite, before: Buffer) -> Copy | None:
    """Return the copy of the row before to the new one, if nothing else reads the row before."""
    reads, writes = (
        [statement for statement in loop.step.statements if row in _touched(statement)]
        for row in (before, write.row)
    )
    copy = as_kind(reads[0], Copy) if len(reads) == 1 else None
    if copy is None or not writes or writes[0] is not reads[0]:
        return None
    source, target = copy.source, copy.target
    whole = isinstance(source, View) and source.whole and source.buffer is before and target.whole
    of_rows = [
        other
        for other in loop.writes
        if isinstance(other.value, View) and other.value.buffer.root() is before
    ]
    return copy if whole and whole_of(target.buffer) is write.row and not of_rows else None


def _touched(statement: Statement) -> set[Buffer]:
    """Return the memory that a statement reads or writes."""
    views = {view.buffer.root() for view in statement.views()}
    return views | {buffer.root() for buffer in statement.written()}
