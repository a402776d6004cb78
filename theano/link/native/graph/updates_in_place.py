"""Outputs of a segment that take the memory of inputs which the graph allows to be destroyed.

What a shared variable lies in is written when nothing can fail any more, so that a call that fails
leaves it as it was: the statements that write it come last, the checks of their indices before them,
and the segment is the last part of the function (`program.py`). Where that cannot be, the variable's
next value gets its own memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph, Output

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.segment import Output as SegmentOutput
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.share_memory import last_uses
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.copy import Copy
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.tensor import view_roots


def overwrite_inputs(segment: Segment) -> None:
    """Have outputs take the memory of inputs that the graph allows to be destroyed.

    Check: an output is a copy of the whole input, and nothing reads the input after the copy.
    """
    given = [variable for _, variable in segment.inputs if variable is not None]
    allowed = destroyed_inputs(segment.nodes, given)
    segment.destroyed = tuple(k for k, (_, v) in enumerate(segment.inputs) if v in allowed)
    _write_shared_last(segment)
    last = last_uses(segment.step.statements)
    taken: set[int] = set()
    for position, statement in enumerate(segment.step.statements):
        copy = as_kind(statement, Copy)
        found = None if copy is None else _copied_input(segment, copy)
        if copy is None or found is None or found[0] in taken:
            continue
        k, output, source = found
        if last[source] > position:
            continue
        if is_shared(segment.inputs[k][1]) and not _certain_from(segment, position):
            continue
        output.overwrites, copy.may_be_same = k, True
        taken.add(k)


def _copied_input(segment: Segment, copy: Copy) -> tuple[int, SegmentOutput, Buffer] | None:
    """Return which destroyed input is copied as a whole, to which output, and its buffer."""
    source, target = copy.source, copy.target
    if not isinstance(source, View):
        return None
    names = {segment.inputs[k][0].name: k for k in segment.destroyed}
    k = names.get(source.buffer.name)
    if k is None or not (source.whole and target.whole):
        return None
    for output in segment.outputs:
        if target.buffer.root() is output.buffer:
            place = target.buffer.place
            if target.buffer is output.buffer or (place is not None and place.whole):
                return k, output, source.buffer
    return None


# ---- what is written last ----


def _write_shared_last(segment: Segment) -> None:
    """Move the statements that write into shared variables to the end, their checks before them.

    What depends on them moves with them.
    """
    statements = segment.step.statements
    begins = [s for s in statements if _begins_shared(segment, s)]
    while begins:
        moved = _with_what_depends(statements, begins)
        wrong = [s for s in moved if not _can_be_checked_before(s, moved)]
        if not wrong:
            break
        begins = [s for s in begins if wrong[0] not in _with_what_depends(statements, [s])]
    if not begins:
        return
    checks: list[Statement] = []
    written: list[Statement] = []
    for statement in moved:
        before, without = _apart(statement)
        checks += before
        written.append(without)
        for new in (*before, without):
            segment.step.origins[new] = segment.step.origins.get(statement)
    statements[:] = [*(s for s in statements if s not in moved), *checks, *written]


def _begins_shared(segment: Segment, statement: Statement) -> bool:
    """Return whether a statement copies a shared variable to where it is updated."""
    copy = as_kind(statement, Copy)
    found = None if copy is None else _copied_input(segment, copy)
    return found is not None and is_shared(segment.inputs[found[0]][1])


def _with_what_depends(
    statements: Sequence[Statement], begins: Sequence[Statement]
) -> list[Statement]:
    """Statements, and those after them that cannot change places with them."""
    moved: list[Statement] = []
    read: set[Buffer] = set()
    written: set[Buffer] = set()
    numbers: set[str] = set()
    for statement in statements:
        mine, changed = statement.memory_touched(), statement.memory_written()
        depends = mine & written or changed & read or numbers & statement.numbers_read()
        if depends or statement in begins:
            moved.append(statement)
            read |= mine
            written |= changed
            numbers |= statement.numbers_defined()
    return moved


def _can_be_checked_before(statement: Statement, moved: Sequence[Statement]) -> bool:
    """Return whether what may fail in a statement is a check of what is known before all that moves."""
    if not statement.may_fail:
        return True
    checks = statement.checks()
    if checks is None:
        return False
    indices = {view.buffer.root() for view in checks.looks_at}
    return not any(indices & other.memory_written() for other in moved)


def _apart(statement: Statement) -> tuple[list[Statement], Statement]:
    """Return what checks the indices of a statement, and the statement without the checks."""
    checks = statement.checks()
    return ([], statement) if checks is None else ([checks.statement], checks.rest)


def _certain_from(segment: Segment, position: int) -> bool:
    """Return whether no statement from this one on can fail or be stopped."""
    return not any(statement.may_fail for statement in segment.step.statements[position:])


def commit_last(segment: Segment) -> None:
    """Let a segment write into shared variables only as the last part of its function."""
    for output in segment.outputs:
        if output.overwrites is not None and is_shared(segment.inputs[output.overwrites][1]):
            if segment.is_last:
                segment.commits = True
            else:
                output.overwrites = None
    taken = [output.buffer for output in segment.outputs if output.overwrites is not None]
    for position, statement in enumerate(segment.step.statements):
        used = statement.buffers()
        if any(_lies_in(buffer, taken) for buffer in used):
            # a signal may have ended what is before it
            segment.commit = position
            return


def _lies_in(buffer: Buffer | None, taken: list[Buffer]) -> bool:
    while buffer is not None:
        if buffer.root() in taken:
            return True
        place = buffer.root().place
        buffer = None if place is None else place.buffer
    return False


# ---- which inputs ----


def destroyed_inputs(nodes: Iterable[Apply], inputs: Collection[Variable]) -> set[Variable]:
    """Return the inputs that a node changes in place."""
    destroyed = set()
    for node in nodes:
        for positions in node.op.destroy_map.values():
            for position in positions:
                variable = node.inputs[position]
                while variable not in inputs and variable.owner is not None:
                    viewed = variable.owner.op.view_map.get(variable.owner.outputs.index(variable))
                    if not viewed:
                        break
                    variable = variable.owner.inputs[viewed[0]]
                destroyed.add(variable)
    return destroyed & set(inputs)


def written_last(fgraph: FunctionGraph, order: Sequence[Apply]) -> set[Apply]:
    """Return the nodes that change shared variables in place, and whose results nothing else reads."""
    found: set[Apply] = set()
    for node in reversed(order):
        uses = [use for v in node.outputs for use, _ in fgraph.clients[v]]
        if shared_positions(node) and all(is_a(u.op, Output) or u in found for u in uses):
            found.add(node)
    return found


def shared_positions(node: Apply) -> list[int]:
    """Return the inputs in the memory of a shared variable that a node changes in place."""
    listed = [k for positions in node.op.destroy_map.values() for k in positions]
    return [k for k in listed if is_shared(node.inputs[k])]


def is_shared(variable: Variable | None) -> bool:
    """Return whether a variable lies in the memory of a shared one."""
    return variable is not None and any(isinstance(v, SharedVariable) for v in view_roots(variable))
