"""Maps that were fused of several, and what of them nobody reads any more."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors


def have_unused_parts(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a result of a fused map is read by nobody, or an operand by none of its scalars.

    The rewrite that takes them away makes a graph of the scalars to find out, and each such graph
    is recorded for good on scalars that all equal maps share.
    """
    scalars: Any = node.op.scalar_op  # type: ignore[attr-defined]
    read = [i for v, i in zip(node.outputs, scalars.outputs, strict=True) if graph.clients[v]]
    if len(read) < len(node.outputs):
        return True
    computed_from = set(ancestors(read))
    return any(i not in computed_from for i in scalars.inputs)
