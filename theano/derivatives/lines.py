"""Gradients whose operations name the user's line that they are the gradient of.

The operations of a gradient are made where the program calls ``theano.grad``, so that this would be
the line of all of them. Those of a loop's step, and all of them while the flag ``profile`` is set,
get the line of the operation that they differentiate; that they are of a gradient is kept next to it
(`theano.source_locations.lines.Place`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.null_type import NullType
from pytensor.graph.traversal import ancestors

from theano.pytensor_internals.graphs.order import order_of
from theano.source_locations.lines import OF_A_GRADIENT
from theano.support.data_classes import dataclass

# The gradients by some variables `wrt`; None, or of a `NullType`, where there is none.
Derive = Callable[..., Sequence[Variable | None]]


def with_lines(derive: Derive, outputs: Sequence[Variable], wrt: Sequence[Variable]) -> Sequence:
    """Return what `derive` gives for `wrt`, with the lines of forward operations.

    Parameters
    ----------
    derive
        Gives the gradients of the outputs by any variables that they are made from.
    outputs
        What is differentiated.
    wrt
        By what.
    """
    nodes = _between(outputs, wrt)
    values = [v for node in nodes for v in node.outputs if v not in wrt]
    found = derive(wrt=[*wrt, *values])
    cotangents: dict[Variable, list[Variable]] = defaultdict(list)
    for variable, cotangent in zip([*wrt, *values], found, strict=True):
        if cotangent is not None and not isinstance(cotangent.type, NullType):
            cotangents[cotangent].append(variable)
    _name_lines(outputs, nodes, cotangents)
    return found[: len(wrt)]


def _between(outputs: Sequence[Variable], wrt: Sequence[Variable]) -> list[Apply]:
    """Return the operations from `wrt` to the outputs, in order."""
    reached, nodes = set(wrt), []
    for node in order_of(outputs):
        if reached.intersection(node.inputs):
            reached.update(node.outputs)
            nodes.append(node)
    return nodes


@dataclass
class _Read:
    """The sources of a new operation: cotangents, and values of the forward graph."""

    cotangents: set[Variable] = field(default_factory=set)
    values: set[Variable] = field(default_factory=set)


def _name_lines(
    outputs: Sequence[Variable],
    nodes: Sequence[Apply],
    cotangents: dict[Variable, list[Variable]],
) -> None:
    forward, order = set(ancestors(outputs)), {node: k for k, node in enumerate(nodes)}
    new = [node for node in order_of(cotangents) if forward.isdisjoint(node.outputs)]
    read = {node: _Read() for node in new}
    for node in new:
        for v in node.inputs:
            if v in forward:
                read[node].values.add(v)
            elif v in cotangents:
                read[node].cotangents.add(v)
            elif v.owner in read:
                read[node].cotangents |= read[v.owner].cotangents
                read[node].values |= read[v.owner].values
    made_for: dict[Apply, Apply] = {}
    for node in reversed(new):
        own = read[node]
        makers = {y.owner for c in own.cotangents for y in cotangents[c] if y.owner in order}
        if makers:
            made_for[node] = max(makers, key=lambda m: (_shared(m, own.values), -order[m]))
        for v in node.inputs:
            # what reads no cotangent, such as a transpose, is for what reads it
            if node in made_for and v.owner in read and not read[v.owner].cotangents:
                made_for[v.owner] = made_for[node]
    for node, maker in made_for.items():
        _take_line(node, maker)


def _shared(maker: Apply, values: set[Variable]) -> int:
    """Return how many of the values a gradient reads its operation reads or makes, less the others."""
    own = values.intersection([*maker.inputs, *maker.outputs])
    return 2 * len(own) - len(values)


def _take_line(node: Apply, maker: Apply) -> None:
    """Have a node name the line of another, and that it is of its gradient."""
    frames = (getattr(maker.outputs[0].tag, "trace", None) or [[]])[0]
    # what is computed again is the forward operation's work, whichever of the two is kept
    again = node.op == maker.op and node.inputs == maker.inputs
    if frames:
        for variable in node.outputs:
            variable.tag.trace = [frames if again else [*frames, OF_A_GRADIENT]]
