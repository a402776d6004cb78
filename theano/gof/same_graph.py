"""Comparison of the computations of two variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_internals.graphs.rewriting import MergeOptimizer

Givens = Mapping[Variable, Variable] | Sequence[tuple[Variable, Variable]]


def is_same_graph(
    var1: Variable, var2: Variable, givens: Givens | None = None, debug: bool = False
) -> bool:
    """Return whether two variables are computed in the same way.

    Parameters
    ----------
    var1, var2 : Variable
    givens : mapping or pairs, optional
        What stands for some of the variables.
    debug : bool
        Accepted: there is one method.

    Returns
    -------
    bool
    """
    return is_same_graph_with_merge(var1, var2, givens)


def is_same_graph_with_merge(var1: Variable, var2: Variable, givens: Givens | None = None) -> bool:
    """Return whether two variables become one when equal nodes are made one.

    Parameters
    ----------
    var1, var2 : Variable
    givens : mapping or pairs, optional
        What stands for some of the variables.

    Returns
    -------
    bool
    """
    both = [var1, var2]
    if givens:
        both = clone_replace(both, dict(givens), rebuild_strict=False)
    inputs = [v for v in graph_inputs(both) if not isinstance(v, Constant)]
    graph = FunctionGraph(inputs, both, clone=True)
    MergeOptimizer().rewrite(graph)
    first, second = graph.outputs
    return first is second
