"""Results that take the memory of inputs which the caller lets be overwritten.

Check: the input is passed as mutable, is no state, and all that reads it is in the segment; the
result is computed from it element by element, as the last use of the input and the first of the
result; and nothing in the segment can fail, so that no call leaves an input half overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.ir import Buffer, Map, Statement, View
from theano.link.native.segment import Output, Segment
from theano.link.native.share_memory import last_uses
from theano.link.native.views import views_of


def mutable_inputs(fgraph: FunctionGraph, nodes: Collection[Apply]) -> set[Variable]:
    """The inputs that may be overwritten once these nodes have run."""
    supervisor = getattr(fgraph, "_supervisor", None)
    if supervisor is None:
        return set()
    updated: Any = (fgraph.update_mapping or {}).values()
    states = {fgraph.inputs[k] for k in updated}
    kept = {*supervisor.protected, *states}
    return {
        variable
        for variable in fgraph.inputs
        if variable not in kept
        and not isinstance(variable, SharedVariable)
        and all(node in nodes for node, _ in fgraph.clients[variable])
    }


def compute_into_inputs(segment: Segment, mutable: Collection[Variable]) -> None:
    """Have outputs of a segment take the memory of such inputs."""
    step = segment.step
    if not mutable or step.loops or step.errors:
        return
    overwritten = {output.overwrites for output in segment.outputs}
    places = {
        argument.name: k
        for k, (argument, variable) in enumerate(segment.inputs)
        if variable in mutable and k not in overwritten
    }
    last, first = last_uses(step.statements), _first_uses(step.statements)
    for position, statement in enumerate(step.statements):
        for source, result in _element_by_element(statement):
            name, output = source.buffer.name, _output_of(result, segment.outputs)
            if name not in places or output is None or output.overwrites is not None:
                continue
            alone = last[source.buffer] <= position == first[output.buffer]
            if alone and source.dtype == result.dtype:
                output.overwrites, output.element_by_element = places.pop(name), True


def _element_by_element(statement: Statement) -> Iterator[tuple[View, Buffer]]:
    """What a map reads as a whole, and what it writes at the same element after reading."""
    if not isinstance(statement, Map):
        return
    reads = views_of(statement)
    partly = {v.buffer for v in reads if not v.whole or v.shape != statement.shape}
    for view in reads:
        if view.buffer not in partly and view.buffer.root() is view.buffer:
            yield from ((view, c.buffer) for c in statement.body if c.buffer is not None)


def _output_of(buffer: Buffer, outputs: Sequence[Output]) -> Output | None:
    """The output that a buffer is the whole of."""
    while buffer.place is not None and buffer.place.whole:
        buffer = buffer.place.buffer
    return next((output for output in outputs if output.buffer is buffer), None)


def _first_uses(statements: Sequence[Statement]) -> dict[Buffer, int]:
    first: dict[Buffer, int] = {}
    for position, statement in enumerate(statements):
        used = [view.buffer for view in views_of(statement)]
        if isinstance(statement, Map):
            used += [c.buffer for c in statement.body if c.buffer is not None]
        for buffer in used:
            first.setdefault(buffer.root(), position)
    return first
