"""The order in which a graph computes, as PyTensor has it, found in half its time.

Passes of rewrites ask for it some hundred times a function. PyTensor's goes along variables, and
hashes constants by their values; here nodes are what is gone along.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort_with_orderings


def in_order(graph: FunctionGraph) -> list[Apply]:
    """All nodes of a graph, each behind those that it reads; as ``graph.toposort()``.

    A frozen graph, of which nothing changes, has no orderings.
    """
    before = graph.orderings() if isinstance(graph, FunctionGraph) else None
    if before:
        # what overwrites an operand comes behind all that read it
        return list(toposort_with_orderings(graph.outputs, orderings=before))
    return order_of(graph.outputs)


def order_of(outputs: Iterable[Variable], known: Container[Variable] = ()) -> list[Apply]:
    """Return the nodes that compute variables, each behind those that it reads; as ``toposort``.

    Parameters
    ----------
    outputs
        The variables.
    known
        Variables that need not be computed.
    """
    done: set[Apply] = set()
    order: list[Apply] = []
    waiting = [v.owner for v in outputs if v.owner is not None and v not in known]
    while waiting:
        node = waiting[-1]
        if node in done:
            waiting.pop()
            continue
        before = [
            owner
            for variable in node.inputs
            if (owner := variable.owner) is not None and owner not in done and variable not in known
        ]
        if before:
            waiting.extend(before)
            continue
        waiting.pop()
        done.add(node)
        order.append(node)
    return order
