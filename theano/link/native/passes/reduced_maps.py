"""Reductions of what a map computes become parts of the map's pass over the elements.

Check: the pass is long enough, and nothing between the map and the reduction needs their order. In a
segment a map takes all its reductions to numbers, whatever it stores; else it takes one, and where that
makes a number, which each thread of a loop computes for itself, the map must not store anything.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Scalar
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dependence import Dependence
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.reduce import Reduce

# Elements of a pass that are in the first cache anyway.
FEW = 4096
# The same where they only become numbers, of arithmetic: stores and loads are most of the work then.
_FEW_FOR_NUMBERS = 512


def reduce_in_maps(lowered: Loop | Segment) -> None:
    """Join each reduction with the map that it reads, where it can be; positions change."""
    step, dependence = lowered.step, Dependence(lowered)
    sizes = step.sizes
    made_by = {
        compute: statement
        for statement in of_kind(step.statements, Map)
        for compute in statement.body
    }
    joined: dict[Map, MapReduce] = {}
    gone: set[Statement] = set()
    for statement in of_kind(step.statements, Reduce):
        if not statement.axes:
            continue
        summed = statement.source.buffer.compute
        of = made_by.get(summed) if summed is not None else None
        if summed is None or of is None or not statement.source.whole:
            continue
        is_number = isinstance(statement.target, Scalar)
        takes_more = is_number and isinstance(lowered, Segment)
        functions = _has_functions(of)
        if sizes.known_below(of.shape, _FEW_FOR_NUMBERS if takes_more and not functions else FEW):
            continue
        if functions and not _is_shared(lowered, statement):
            continue
        if _moves_past_uses(step.statements, of, statement, dependence):
            continue
        if of in joined:
            if takes_more and isinstance(joined[of].reductions[0].target, Scalar):
                joined[of].reduced.append((statement, summed))
                gone.add(statement)
            continue
        if is_number and not takes_more and _stores_more(step.statements, of, statement):
            continue
        new = MapReduce(of.shape, of.body, [(statement, summed)])
        joined[of] = new
        step.origins[new] = step.origins.get(of)
        gone.add(statement)
    step.statements = [
        joined.get(statement, statement)  # type: ignore[call-overload]
        for statement in step.statements
        if statement not in gone
    ]


def _has_functions(of: Map) -> bool:
    """Return whether it has functions, which take so long that threads should share its elements."""
    return any(compute.operation.function for compute in of.body)


def _is_shared(lowered: Loop | Segment, reduction: Reduce) -> bool:
    """Return whether threads share the elements of what is reduced: by what stays, of which there may be few, or by parts of a number.

    In a loop they share columns either way.
    """
    if isinstance(reduction.target, Scalar):
        return isinstance(lowered, Segment)
    if not reduction.kept:
        return False
    return isinstance(lowered, Loop) or reduction.source.ndim - 1 in reduction.axes


def _moves_past_uses(
    statements: list[Statement], of: Map, reduction: Reduce, dependence: Dependence
) -> bool:
    """Return whether memory that the reduction writes is used from the map on: a row of a state."""
    written = dependence.writes(reduction)
    between = statements[statements.index(of) : statements.index(reduction)]
    return any(
        not written.isdisjoint(dependence.reads(one) | dependence.writes(one)) for one in between
    )


def _stores_more(statements: list[Statement], of: Map, reduction: Reduce) -> bool:
    """Return whether others read what the map computes, so that each thread would write it."""
    made: set[Buffer | None] = {compute.buffer for compute in of.body}
    if any(buffer is not None and buffer.place is not None for buffer in made):
        return True
    return any(
        view.buffer in made or _source(view.buffer) in made
        for statement in statements
        if statement is not reduction
        for view in statement.views()
    )


def _source(buffer: Buffer) -> Buffer:
    while buffer.source is not None:
        buffer = buffer.source.buffer
    return buffer
