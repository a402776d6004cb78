"""Elimination of dead values, such as results of an operation of several that go unused."""

from __future__ import annotations

from collections import Counter

from theano.link.native.ir.ir import Buffer, Compute, Value, View
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.map import Map


def eliminate_dead_values(lowered: Loop | Segment) -> None:
    """Leave out what only writes memory that nothing reads, and raises nothing meanwhile."""
    step = lowered.step
    returned = {buffer.root() for buffer in returned_buffers(lowered)}
    changed = True
    while changed:
        reads = Counter(root for statement in step.statements for root in _read(statement))
        dead = {one for one in step.statements if _is_dead(one, reads, returned)}
        step.statements = [one for one in step.statements if one not in dead]
        maps = of_kind(step.statements, Map)
        pruned = [_pruned(one, reads, returned) for one in maps]
        changed = bool(dead) or any(pruned)


def returned_buffers(lowered: Loop | Segment) -> list[Buffer]:
    """Return the buffers that whoever called reads, or the next step of a loop."""
    if isinstance(lowered, Segment):
        return [output.buffer for output in lowered.outputs]
    values: list[Value | Buffer] = [write.value for write in lowered.writes]
    values += [row for row, _, _ in lowered.rows]
    return [
        value.buffer if isinstance(value, View) else value
        for value in values
        if isinstance(value, View | Buffer)
    ]


def _read(statement: Statement) -> set[Buffer]:
    return {one.buffer.root() for one in statement.values_read() if isinstance(one, View)}


def _is_dead(statement: Statement, reads: Counter[Buffer], returned: set[Buffer]) -> bool:
    written = {buffer.root() for buffer in statement.written()}
    if not written or statement.numbers_defined() or statement.errors() or statement.called:
        return False
    own = _read(statement)
    return all(
        root.role == "temporary" and root not in returned and reads[root] == (root in own)
        for root in written
    )


def _pruned(statement: Map, reads: Counter[Buffer], returned: set[Buffer]) -> bool:
    """Leave out results of a map, along with others, that nothing reads; return whether there were any."""
    used: set[Compute] = set()
    for compute in reversed(statement.body):
        root = None if compute.buffer is None else compute.buffer.root()
        read = root is not None and (root.role != "temporary" or root in returned or reads[root])
        if read or compute in used:
            used |= {compute, *(one for one in compute.operands if isinstance(one, Compute))}
    before = len(statement.body)
    statement.body = [compute for compute in statement.body if compute in used]
    return len(statement.body) < before
