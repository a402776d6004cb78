"""The key of a loop's step: what two steps have in common where results about one serve the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from pytensor.graph.basic import Apply

from theano.pytensor_internals.graphs.graph import frozen_graph_inside
from theano.pytensor_internals.graphs.scan import Scan


def lines_of_values(nodes: Iterable[Apply]) -> Hashable:
    """Return where what nodes compute was written, in the order of the nodes."""
    return tuple(repr(getattr(v.tag, "trace", None)) for node in nodes for v in node.outputs)


def what_decides(op: Scan) -> Hashable:
    """Return the step with the lines and the names of its values, which errors and reports name."""
    nodes = op.fgraph.toposort()  # type: ignore[attr-defined]
    values = (v for node in nodes for v in node.outputs)
    names = tuple(value.name for value in (*op.inner_inputs, *values))
    return op.info, frozen_graph_inside(op), lines_of_values(nodes), names
