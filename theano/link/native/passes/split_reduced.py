"""Results of a map that are only reduced to numbers become a separate map.

That is one pass with the reductions, and stores nothing; what others read may then be computed where they
read it, a block of steps at a time. Check: there may be many elements, and whatever other results need as
well is arithmetic, which is done twice. Transformation: what the results are computed from is copied into a
new map behind the one that they were part of.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Compute, Scalar
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.slice_maps import tree_of
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# Elements of passes that are better one: their results stay in the second cache.
CACHED = 2**15


def split_reduced(lowered: Loop | Segment) -> None:
    """Compute in separate maps what is only reduced to numbers; positions change."""
    step = lowered.step
    reduced = reduced_to_numbers(step.statements)
    for statement in list(of_kind(step.statements, Map)):
        if step.sizes.known_below(statement.shape, CACHED):
            continue
        found = _apart(statement, reduced)
        if found:
            _unpack(step, statement, found)


def maps_for_numbers(statements: list[Statement]) -> set[Map]:
    """Return the maps of which nothing is read but by reductions to one number, and by other such maps."""
    found: set[Map] = set()
    read_otherwise: set[Buffer] = set()
    for statement in reversed(statements):
        to_number = any(isinstance(r.target, Scalar) for r in of_kind([statement], Reduce))
        for one in of_kind([statement], Map):
            written = [buffer.root() for buffer in one.written()]
            if all(b.role == "temporary" and b not in read_otherwise for b in written):
                found.add(one)
                to_number = True
        if not to_number:
            read_otherwise.update(view.buffer.root() for view in statement.views())
    return found


def reduced_to_numbers(statements: list[Statement]) -> set[Buffer]:
    """Return the buffers of which nothing is read but by reductions to one number."""
    reduced: set[Buffer] = set()
    read_otherwise: set[Buffer] = set()
    for statement in statements:
        to_number = False
        for reduction in of_kind([statement], Reduce):
            to_number = isinstance(reduction.target, Scalar)
        buffers = {view.buffer.root() for view in statement.views()}
        (reduced if to_number else read_otherwise).update(buffers)
    return {one for one in reduced - read_otherwise if one.role == "temporary"}


def _apart(statement: Map, reduced: set[Buffer]) -> list[Compute]:
    """Return the results of a map that are only reduced, and share no function with others; none if these are all."""
    used = {one for c in statement.body for one in c.operands if isinstance(one, Compute)}
    results = [c for c in statement.body if c not in used]
    found = [c for c in results if c.buffer in reduced]
    others = [c for c in results if c.buffer not in reduced]
    while True:
        again = {one for c in others for one in tree_of(c) if one.operation.function}
        moved = [c for c in found if not again.isdisjoint(tree_of(c))]
        if not moved:
            return found if others else []
        others += moved
        found = [c for c in found if c not in moved]


def _unpack(step: Step, statement: Map, found: list[Compute]) -> None:
    made: dict[Compute, Compute] = {}
    for one in dict.fromkeys(one for compute in found for one in tree_of(compute)):
        buffer = one.buffer if one in found else step.temporary(one.dtype, statement.shape)
        assert buffer is not None
        operands = [made[each] if isinstance(each, Compute) else each for each in one.operands]
        made[one] = one.made_again(buffer, operands)
    statement.body = [one for one in statement.body if one not in found]
    apart = Map(statement.shape, [*made.values()])
    step.origins[apart] = step.origins.get(statement)
    step.statements.insert(step.statements.index(statement) + 1, apart)
