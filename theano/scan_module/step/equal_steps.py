"""What two loops' steps are to have in common for what is made of one to serve the other."""

from __future__ import annotations

from collections.abc import Hashable

from theano.pytensor_base.graphs.graph import frozen_graph_inside
from theano.pytensor_base.graphs.scan import Scan


def what_decides(op: Scan) -> Hashable:
    """The step with the lines and the names of its values, which errors and reports tell."""
    values = [v for node in op.fgraph.toposort() for v in node.outputs]  # type: ignore[attr-defined]
    lines = tuple(repr(getattr(value.tag, "trace", None)) for value in values)
    names = tuple(value.name for value in (*op.inner_inputs, *values))
    return op.info, frozen_graph_inside(op), lines, names
