"""Rewrites as PyTensor's database gives them, with faster ways of running them put in place."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    SequentialGraphRewriter,
)
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.db import ScanEquilibriumGraphRewriter
from pytensor.tensor.rewriting.shape import ShapeOptimizer

from theano.schedule.equilibrium import Equilibrium
from theano.schedule.lazy_shapes import AttachLazyShapes
from theano.schedule.seconds import SecondsByRewrite


class EquilibriumOfLoops(Equilibrium):
    """Rewrites of loops, until nothing changes; a graph without loops is left alone."""

    def apply(self, fgraph: FunctionGraph, start_from=None) -> SecondsByRewrite:
        """Rewrite the graph if it has a loop."""
        if not any(isinstance(node.op, Scan) for node in fgraph.apply_nodes):
            return SecondsByRewrite()
        return super().apply(fgraph)


# PyTensor's class -> what takes its place, made from it
_INSTEAD: dict[type[GraphRewriter], Callable[[Any], GraphRewriter]] = {
    EquilibriumGraphRewriter: Equilibrium,
    ScanEquilibriumGraphRewriter: EquilibriumOfLoops,
    ShapeOptimizer: lambda _: AttachLazyShapes(),
}


def arranged(rewriter: GraphRewriter) -> GraphRewriter:
    """The same rewrites in the same order, run by the classes of this package.

    Parameters
    ----------
    rewriter : GraphRewriter
        What a query of PyTensor's database gave. It is not changed.

    Examples
    --------
    >>> from pytensor.compile.mode import optdb
    >>> rewriter = arranged(optdb.query("+fast_run"))
    """
    if isinstance(rewriter, SequentialGraphRewriter):
        made = copy(rewriter)
        made.data = [arranged(part) for part in rewriter.data]
        return made
    instead = _INSTEAD.get(type(rewriter))
    return rewriter if instead is None else instead(rewriter)
