"""Rewrites of graphs, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

import logging
from collections.abc import Sequence

from pytensor.graph.basic import Apply, Variable

from theano.configdefaults import config
from theano.gof.fg import FunctionGraph
from theano.gof.op import Op
from theano.gof.rewriters.graph_rewriters import (
    EquilibriumOptimizer,
    FromFunctionOptimizer,
    MergeOptimizer,
    NavigatorOptimizer,
    OpKeyOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    in2out,
    inplace_optimizer,
    optimizer,
    out2in,
)
from theano.gof.rewriters.local_rewriters import (
    FromFunctionLocalOptimizer,
    LocalOptGroup,
    LocalOptimizer,
    OpRemove,
    OpSub,
    graph_around,
    local_optimizer,
)
from theano.gof.rewriters.pattern_rewriter import PatternSub
from theano.gof.same_graph import is_same_graph_with_merge
from theano.pytensor_internals.graphs.graph import InconsistencyError
from theano.pytensor_internals.graphs.rewriting import (
    CheckStackTraceRewriter as CheckStackTraceOptimization,
)
from theano.pytensor_internals.graphs.rewriting import (
    MergeFeature,
    check_stack_trace,
    copy_stack_trace,
)
from theano.pytensor_internals.graphs.rewriting import pre_constant_merge as _pre_constant_merge
from theano.pytensor_internals.graphs.rewriting import pre_greedy_node_rewriter as _pre_greedy


def pre_constant_merge(vars: Sequence[Variable]) -> Sequence[Variable]:
    """Make equal constants in the expressions of variables one, before they are in a graph."""
    return _pre_constant_merge(FunctionGraph([], [], clone=False), vars)


def pre_greedy_local_optimizer(
    list_optimizations: Sequence[LocalOptimizer], out: Variable
) -> Variable:
    """Apply rewrites once to each application of an expression that is in no graph.

    Parameters
    ----------
    list_optimizations : sequence of LocalOptimizer
    out : Variable

    Returns
    -------
    Variable
        The expression as rewritten.
    """
    return _pre_greedy(FunctionGraph([], [], clone=False), list_optimizations, out)


def check_chain(r: Variable | Apply, *chain: Op | type | None) -> bool:
    """Return whether a variable is made by a chain of operators, each from the first input of the next.

    Parameters
    ----------
    r : Variable or Apply
    *chain : Op, operator class or None
        From the output back; None for a variable that no operator makes.
    """
    variable = r.outputs[0] if isinstance(r, Apply) else r
    for expected in chain:
        node = variable.owner
        if expected is None:
            if node is not None:
                return False
            continue
        if node is None:
            return False
        matches = (
            isinstance(node.op, expected) if isinstance(expected, type) else node.op == expected
        )
        if not matches:
            return False
        variable = node.inputs[0] if node.inputs else variable
    return True
