"""Operators that overwrite what they read, put into a graph with one question whether they may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import InconsistencyError
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace

InPlace = Callable[[Apply], Apply | None]


def replace_together(
    fgraph: FunctionGraph, nodes: Sequence[Apply], in_place: InPlace, reason: str
) -> None:
    """Replace nodes by others: all at once, or one by one if the graph forbids one of them.

    What a graph allows is found by walking through all of it.

    Parameters
    ----------
    fgraph
        The graph; what watches its changes can take them back.
    nodes
        The nodes, each before those that read it.
    in_place
        What takes the place of a node, made of the node as it is when its turn comes; None where
        nothing does.
    reason
        What the changes are called.
    """
    before = fgraph.checkpoint()  # type: ignore[attr-defined]
    if not _replace(nodes, in_place, fgraph.replace, reason):
        return
    try:
        fgraph.validate()  # type: ignore[attr-defined]
    except InconsistencyError:
        fgraph.revert(before)  # type: ignore[attr-defined]
        one_by_one = fgraph.replace_validate  # type: ignore[attr-defined]
        _replace(nodes, in_place, one_by_one, reason)


def _replace(nodes: Sequence[Apply], in_place: InPlace, replace: Callable, reason: str) -> bool:
    """Replace nodes; return whether there was one to replace."""
    found = False
    for node in nodes:
        made = in_place(node)
        if made is None:
            continue
        found = True
        copy_stack_trace(node.outputs[0], made.outputs[0])
        with suppress(InconsistencyError):
            replace(node.outputs[0], made.outputs[0], reason=reason)
    return found
