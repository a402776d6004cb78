"""Rewrites as PyTensor's database gives them, with faster ways of running them put in place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from copy import copy
from typing import Any

from pytensor.compile.mode import optdb as _pytensor_optdb
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import DestroyHandler, features_of
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    NodeProcessingGraphRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    WalkingGraphRewriter,
)
from theano.pytensor_internals.graphs.scan import (
    MergeWithLines,
    Scan,
    ScanEquilibriumGraphRewriter,
    ScanMerge,
)
from theano.pytensor_internals.operations.tensor_rewrites import (
    ShapeOptimizer,
    topo_constant_folding,
)
from theano.rewriting.equilibrium import Equilibrium
from theano.rewriting.imports import InSequence
from theano.rewriting.lazy_shapes import AttachLazyShapes
from theano.rewriting.merging import Merge
from theano.rewriting.rewrites.of_pytensor.replacements import INSTEAD
from theano.rewriting.times_of_rewrites import SecondsByRewrite
from theano.rewriting.visits_by_operation import InTurn, Walk


class EquilibriumOfLoops(Equilibrium):
    """Rewrites of loops, until nothing changes; a graph without loops is left alone."""

    def __init__(self, of: EquilibriumGraphRewriter):
        super().__init__(of)
        self.global_rewriters = [arranged(rewriter) for rewriter in of.global_rewriters]

    def apply(self, fgraph: FunctionGraph, start_from=None) -> SecondsByRewrite:
        """Rewrite the graph if it has a loop."""
        if not any(is_a(node.op, Scan) for node in fgraph.apply_nodes):
            return SecondsByRewrite()
        return super().apply(fgraph)


class InTime(GraphRewriter):
    """A rewrite that overwrites operands, before which nothing watches what is overwritten.

    What watches is asked about each change of a graph; PyTensor has it watch from the first
    rewrite on.

    Parameters
    ----------
    rewriter
        The rewrite, whose requirements are made from a graph when its turn comes.
    """

    def __init__(self, rewriter: GraphRewriter):
        self.name = rewriter.name or getattr(rewriter, "__name__", None)
        self.rewrites = [rewriter]

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite the graph."""
        return self.rewrites[0].rewrite(fgraph)

    def __str__(self) -> str:
        return str(self.rewrites[0])


def _overwrites(rewriter: GraphRewriter) -> bool:
    """Return whether it wants to know what each node of a graph overwrites."""
    graph = FunctionGraph([], [])
    rewriter.add_requirements(graph)
    return any(isinstance(feature, DestroyHandler) for feature in features_of(graph))


@functools.cache
def _canonical_form() -> GraphRewriter:
    return arranged(_pytensor_optdb.query("+canonicalize"))


def canonicalize(graph: FunctionGraph) -> None:
    """Rewrite a graph in place as modes of this package begin to."""
    _canonical_form().rewrite(graph)


def _merge_with_lines(of: ScanMerge) -> GraphRewriter:
    made = MergeWithLines()
    vars(made).update(vars(of))
    return made


def _merge(of: MergeOptimizer) -> GraphRewriter:
    made = Merge()
    vars(made).update(vars(of))
    return made


def _simplify_lengths(graph: FunctionGraph) -> None:
    canonicalize(graph)
    topo_constant_folding.rewrite(graph)


# PyTensor's class -> what takes its place, made from it
_INSTEAD: dict[type[GraphRewriter], Callable[[Any], GraphRewriter]] = {
    EquilibriumGraphRewriter: Equilibrium,
    ScanEquilibriumGraphRewriter: EquilibriumOfLoops,
    MergeOptimizer: _merge,
    ScanMerge: _merge_with_lines,
    ShapeOptimizer: lambda _: AttachLazyShapes(_simplify_lengths),
}


def _instead_of(rewriter: Any) -> Any:
    """Return what takes the place of a rewrite of nodes, or of some that run in turn."""
    if type(rewriter) is not SequentialNodeRewriter:
        return INSTEAD.get(rewriter, rewriter)
    made = InTurn(
        *map(_instead_of, rewriter.rewrites),
        apply_all_rewrites=rewriter.apply_all_rewrites,
        profile=rewriter.profile,
    )
    made.name = rewriter.name
    return made


def arranged(rewriter: GraphRewriter) -> GraphRewriter:
    """Return the same rewrites in the same order, run by the classes of this package.

    Parameters
    ----------
    rewriter : GraphRewriter
        What a query of PyTensor's database gave. It is not changed.

    Examples
    --------
    >>> from pytensor.compile.mode import optdb
    >>> rewriter = arranged(optdb.query("+fast_run"))
    """
    if is_a(rewriter, SequentialGraphRewriter):
        made = InSequence()
        vars(made).update(vars(rewriter))
        made.data = [arranged(part) for part in rewriter.data]
        return made
    if type(rewriter) in _INSTEAD:
        return _INSTEAD[type(rewriter)](rewriter)
    if type(rewriter) is WalkingGraphRewriter:
        rewriter = Walk(rewriter, _instead_of(rewriter.node_rewriter))
    elif isinstance(rewriter, NodeProcessingGraphRewriter):
        of_nodes = copy(rewriter)
        of_nodes.node_rewriter = _instead_of(rewriter.node_rewriter)
        if of_nodes.node_rewriter is not rewriter.node_rewriter:
            return of_nodes
    return InTime(rewriter) if _overwrites(rewriter) else rewriter
