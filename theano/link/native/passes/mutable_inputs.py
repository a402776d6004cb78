"""Results that take the memory of inputs which the caller lets be overwritten.

Check: the input is passed as mutable, or is a shared variable that gets a new value; all that
reads it is in the segment; the result is computed from it element by element, as the last use of
the input and the first of the result; and nothing in the segment can fail, nor, for a shared
variable, anything else in the function, so that no call leaves an input half overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.segment import Output, Segment
from theano.link.native.passes.results_in_operands import whole_of
from theano.link.native.passes.share_memory import first_uses, last_uses
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.map_reduce import MapReduce
from theano.pytensor_internals.graphs.graph import protected_inputs


def mutable_inputs(
    fgraph: FunctionGraph, nodes: Collection[Apply]
) -> dict[Variable, Variable | None]:
    """Return the inputs that may be overwritten once these nodes have run.

    With a shared variable comes its next value, which is the first to take its memory.
    """
    protected = protected_inputs(fgraph)
    if protected is None:
        return {}
    updates: Any = fgraph.update_mapping or {}
    states = {fgraph.inputs[k]: fgraph.outputs[result] for result, k in updates.items()}
    found: dict[Variable, Variable | None] = {}
    nodes = set(nodes)
    for variable in fgraph.inputs:
        # the graph of a step has no entry for an input that it does not read
        if variable not in fgraph.clients:
            continue
        if not all(node in nodes for node, _ in fgraph.clients[variable]):
            continue
        if isinstance(variable, SharedVariable):
            if variable in states and len(nodes) == len(fgraph.apply_nodes):
                found[variable] = states[variable]
        elif variable not in states and variable not in protected:
            found[variable] = None
    return found


def compute_into_inputs(segment: Segment) -> None:
    """Have outputs of a segment take the memory of such inputs."""
    step, mutable = segment.step, segment.mutable
    if not mutable or step.loops or step.errors:
        return
    overwritten = {output.overwrites for output in segment.outputs}
    places = {
        argument.name: (k, mutable[variable])
        for k, (argument, variable) in enumerate(segment.inputs)
        if variable is not None and variable in mutable and k not in overwritten
    }
    for wanted in (lambda result, next_value: result is next_value, lambda *_: True):
        for output, name in _candidates(segment):
            k, next_value = places.get(name, (None, None))
            if (
                k is None
                or output.overwrites is not None
                or not wanted(output.variable, next_value)
            ):
                continue
            output.overwrites, output.element_by_element = k, True
            del places[name]


def _candidates(segment: Segment) -> Iterator[tuple[Output, str]]:
    """Yield outputs that may be computed in the memory of an input, and the name of the input."""
    statements = segment.step.statements
    last, first = last_uses(statements), first_uses(statements)
    outputs = {output.buffer: output for output in segment.outputs}
    for position, statement in enumerate(statements):
        for source, result in _element_by_element(statement):
            output = outputs.get(whole_of(result))
            if output is not None and source.dtype == result.dtype:
                if last[source.buffer] <= position == first[output.buffer]:
                    yield output, source.buffer.name


def _element_by_element(statement: Statement) -> Iterator[tuple[View, Buffer]]:
    """Yield what a map reads as a whole, and what it writes at the same element after reading."""
    one = as_kind(statement, Map) or as_kind(statement, MapReduce)
    if one is None:
        return
    reads = one.views()
    partly = {v.buffer for v in reads if not v.whole or v.shape != one.shape}
    for view in reads:
        if view.buffer not in partly and view.buffer.root() is view.buffer:
            yield from ((view, c.buffer) for c in one.body if c.buffer is not None)
