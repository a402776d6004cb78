"""Products of matrices, whichever operation computes them."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.basic import Apply
from pytensor.graph.op import HasInnerGraph

from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.step.operation_kinds import is_product


def products_among(nodes: Iterable[Apply]) -> list[Apply]:
    """Return the products among the nodes and in graphs inside them, but not in loops."""
    found: list[Apply] = []
    for node in nodes:
        if is_product(node.op):
            found.append(node)
        elif isinstance(node.op, HasInnerGraph) and not isinstance(node.op, PyTensorScan):
            found += products_among(node.op.fgraph.toposort())
    return found
