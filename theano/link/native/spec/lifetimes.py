"""Verification that each value is read only while memory holds it.

Passes give several values the same memory: a copy becomes another name for what it copies, a result
takes the place of an operand, rows are written over rows that were read for the last time, an output
lies in an input, and slots of work memory are used again. Each of them finds the last reader in its own way;
here the statements are gone through once more, with no knowledge of who decided what.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.spec.statements import UnsoundStep
from theano.link.native.statements.base import Statement
from theano.link.native.statements.step_blocks import StepBlocks, moments


def verify_lifetimes(lowered: Loop | Segment, after: str) -> None:
    """Look at all reads of a loop's step or of a segment.

    Names for parts of a memory are not distinguished, as these may be written one after the other.

    Raises
    ------
    UnsoundStep
        With what ran last, the statement that reads, and what has taken the memory of what it reads.
    """
    inputs = _inputs_overwritten(lowered)
    names: dict[str, set[Buffer]] = defaultdict(set)
    lost: dict[Buffer, Buffer] = {}
    for position, moment in enumerate(moments(lowered.step.statements)):
        statement = moment.statement
        wrong = _outside_its_slot(lowered, statement, position)
        for part in statement.in_order():
            for view in _read(part):
                # an input holds its value from the beginning
                if view.buffer.name in inputs.values():
                    names[view.buffer.name].add(view.buffer)
                taken = _lost(view.buffer, names[_owner(view.buffer, inputs)], lost)
                if taken is not None and not wrong:
                    wrong = f"it reads {view.buffer.name}, whose memory {taken.name} has taken"
            for buffer, all_of_it in _written(part, moment.blocks).items():
                owner = _owner(buffer, inputs)
                if _is_all_of_memory(buffer):
                    others = names[owner] - {buffer}
                    gone = others if all_of_it else filter(_is_all_of_memory, others)
                    lost.update(dict.fromkeys(gone, buffer))
                lost.pop(buffer, None)
                names[owner].add(buffer)
        if wrong:
            raise UnsoundStep(
                f"after {after}, at moment {position} of {lowered.name}, "
                f"{statement.described()}: {wrong}"
            )


def _inputs_overwritten(lowered: Loop | Segment) -> dict[Buffer, str]:
    """Return the names of the inputs in whose memory results of a segment are."""
    if not isinstance(lowered, Segment):
        return {}
    return {
        output.buffer.root(): lowered.inputs[output.overwrites][0].name
        for output in lowered.outputs
        if output.overwrites is not None
    }


def _read(part: Statement) -> Iterator[View]:
    return (value for value in part.values_read() if isinstance(value, View))


def _written(part: Statement, blocks: StepBlocks | None) -> dict[Buffer, bool]:
    """Return what a statement writes, and whether it is all of it; in blocks of steps, all of their rows."""
    views = [value for value in part.values_written() if isinstance(value, View)]
    shown = {view.buffer: view.whole or _shows_rows_of(blocks, view) for view in views}
    return shown | dict.fromkeys(part.results(), True)


def _shows_rows_of(blocks: StepBlocks | None, view: View) -> bool:
    ndim = len(view.buffer.shape)
    return (
        blocks is not None
        and view.axes == tuple(range(ndim))
        and view.steps == (1,) * ndim
        and view.start[1:] == (0,) * (ndim - 1)
        and view.shape[1:] == view.buffer.shape[1:]
    )


def _owner(buffer: Buffer, inputs: dict[Buffer, str]) -> str:
    """Return the name of the array in whose memory a buffer lies."""
    return inputs.get(buffer.root(), buffer.root().name)


def _lost(buffer: Buffer, held: set[Buffer], lost: dict[Buffer, Buffer]) -> Buffer | None:
    """Return what has taken the memory of a value, which may be another name for a value before it."""
    while buffer not in lost and buffer not in held:
        within = buffer.place or buffer.source
        if within is None:
            return None
        buffer = within.buffer
    return lost.get(buffer)


def _is_all_of_memory(buffer: Buffer) -> bool:
    """Return whether a buffer is a name for all of the memory that it lies in."""
    while (within := buffer.place or buffer.source) is not None:
        if not within.whole:
            return False
        buffer = within.buffer
    return True


def _outside_its_slot(lowered: Loop | Segment, statement: Statement, position: int) -> str:
    """Return whether a statement touches a temporary whose slot may be another's at that time."""
    plan = lowered.memory
    if plan is None:
        return ""
    touched = [*statement.buffers(), *statement.written()]
    for root in dict.fromkeys(buffer.root() for buffer in touched):
        if root in plan.buffers:
            slot = plan.slots[plan.buffers[root]]
            if not slot.first <= position <= slot.last:
                return (
                    f"it touches {root.name}, which has memory from moment {slot.first} "
                    f"to {slot.last}"
                )
    return ""
