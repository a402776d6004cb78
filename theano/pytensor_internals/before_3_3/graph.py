"""Graphs inside operators, which PyTensor 3.0 copies with their operators and freezes next to them."""

from __future__ import annotations

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.graph.op import HasInnerGraph


def frozen_graph_inside(op: HasInnerGraph) -> FrozenFunctionGraph:
    """Return the graph inside an operator, interned: equal graphs are the same object."""
    # of Scan and OpFromGraph
    return op._frozen_fgraph  # type: ignore[attr-defined]


def copy_of_graph_inside(op: HasInnerGraph) -> FunctionGraph:
    """Return a copy of the graph inside an operator, which may be changed."""
    return op.fgraph.clone(clone_inner_graphs=True)  # type: ignore[attr-defined]


def copy_of_node(node: Apply) -> Apply:
    """Return a node of the same operator and inputs, with its own outputs."""
    return node.clone(clone_inner_graph=True)
