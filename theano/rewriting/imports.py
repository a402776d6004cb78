"""Nodes that come into a graph, found by asking for them what the graph has.

PyTensor copies the set of all variables of a graph for each replacement: the square of its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pytensor.graph.basic import Apply, AtomicVariable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import HISTORY
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.graphs.rewriting import SequentialGraphRewriter

METHOD = "import_node"


class InSequence(SequentialGraphRewriter):
    """PyTensor's rewrites of a graph one after the other, while nodes are imported as here."""

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite the graph."""
        with imports_by_membership(fgraph):
            return super().apply(fgraph)


@contextmanager
def imports_by_membership(fgraph: FunctionGraph) -> Iterator[None]:
    """Have a graph, and no other, import nodes without a copy of what it has."""
    own = vars(fgraph)
    if METHOD in own:
        # it does so already
        yield
        return
    own[METHOD] = partial(import_node, fgraph)
    try:
        yield
    finally:
        own.pop(METHOD, None)


def import_node(
    fgraph: FunctionGraph,
    apply_node: Apply,
    check: bool = True,
    reason: Any = None,
    import_missing: bool = False,
) -> None:
    """Bring a node into a graph, after those that it needs; as the method of the graph's class.

    Raises
    ------
    MissingInputError
        If it needs an input that the graph does not have.
    """
    new = order_of(apply_node.outputs, fgraph.variables)
    if (import_missing or check) and _lacks_inputs(fgraph, new):
        # which adds them, or has the words for what is missing
        FunctionGraph.import_node(fgraph, apply_node, check, reason, import_missing)
        return
    why = str(reason)
    for node in new:
        fgraph.apply_nodes.add(node)
        vars(node.tag).setdefault(HISTORY, []).append(why)
        for output in node.outputs:
            fgraph.clients.setdefault(output, [])
        fgraph.variables.update(node.outputs)
        for place, variable in enumerate(node.inputs):
            fgraph.clients.setdefault(variable, []).append((node, place))
        fgraph.variables.update(node.inputs)
        fgraph.execute_callbacks("on_import", node, reason)


def _lacks_inputs(fgraph: FunctionGraph, nodes: list[Apply]) -> bool:
    """Return whether nodes read variables that nothing computes and the graph does not have."""
    return any(
        variable.owner is None
        and variable not in fgraph.variables
        and not is_a(variable, AtomicVariable)
        and variable not in fgraph.inputs
        for node in nodes
        for variable in node.inputs
    )
