"""A map's result that is only reduced to one number becomes a separate map.

It is then one pass with the reduction, and stored nowhere; next to results that are stored it would be,
for all of them are there before the reduction begins. Check: whatever other results need as well is
arithmetic, which is done twice. Transformation: what the result is computed from is copied into a new
map behind the one that it was part of.
"""

from __future__ import annotations

from collections import Counter

from theano.link.native.ir.ir import Buffer, Compute, Scalar
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.slice_maps import tree_of
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce


def split_reduced(lowered: Loop | Segment) -> None:
    """Compute in separate maps what is only reduced to numbers; positions change."""
    step = lowered.step
    reduced = reduced_to_numbers(step.statements)
    for statement in list(of_kind(step.statements, Map)):
        uses = Counter(
            one for c in statement.body for one in c.operands if isinstance(one, Compute)
        )
        for compute in [c for c in statement.body if c.buffer in reduced and not uses[c]]:
            if len(statement.body) > 1 and _may_be_apart(compute, statement):
                _unpack(step, statement, compute)


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


def _may_be_apart(compute: Compute, statement: Map) -> bool:
    own = set(tree_of(compute))
    others = [c for c in statement.body if c not in own]
    shared = {one for c in others for one in c.operands if isinstance(one, Compute)} & own
    again = {one for each in shared for one in tree_of(each)}
    # what others read from memory stays where it is, too
    return bool(others) and not any(one.operation.function for one in again)


def _unpack(step: Step, statement: Map, compute: Compute) -> None:
    made: dict[Compute, Compute] = {}
    for one in tree_of(compute):
        buffer = one.buffer if one is compute else step.temporary(one.dtype, statement.shape)
        assert buffer is not None
        operands = [made[each] if isinstance(each, Compute) else each for each in one.operands]
        made[one] = one.made_again(buffer, operands)
    statement.body.remove(compute)
    apart = Map(statement.shape, [*made.values()])
    step.origins[apart] = step.origins.get(statement)
    step.statements.insert(step.statements.index(statement) + 1, apart)
