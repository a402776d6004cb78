"""Rewrites of graphs, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

import functools
from collections.abc import Callable, Sequence

from pytensor.graph.basic import Apply
from pytensor.graph.rewriting.basic import (
    CheckStackTraceRewriter as CheckStackTraceOptimization,
)
from pytensor.graph.rewriting.basic import (
    EquilibriumGraphRewriter as EquilibriumOptimizer,
)
from pytensor.graph.rewriting.basic import (
    FromFunctionGraphRewriter as FromFunctionOptimizer,
)
from pytensor.graph.rewriting.basic import (
    FromFunctionNodeRewriter as FromFunctionLocalOptimizer,
)
from pytensor.graph.rewriting.basic import (
    GraphRewriter as Optimizer,
)
from pytensor.graph.rewriting.basic import (
    MergeFeature,
    MergeOptimizer,
    check_stack_trace,
    copy_stack_trace,
    in2out,
    node_rewriter,
    out2in,
    pre_constant_merge,
)
from pytensor.graph.rewriting.basic import (
    NodeProcessingGraphRewriter as NavigatorOptimizer,
)
from pytensor.graph.rewriting.basic import (
    NodeRewriter as LocalOptimizer,
)
from pytensor.graph.rewriting.basic import (
    PatternNodeRewriter as PatternSub,
)
from pytensor.graph.rewriting.basic import (
    SequentialGraphRewriter as SeqOptimizer,
)
from pytensor.graph.rewriting.basic import (
    SequentialNodeRewriter as LocalOptGroup,
)
from pytensor.graph.rewriting.basic import (
    SubstitutionNodeRewriter as OpSub,
)
from pytensor.graph.rewriting.basic import (
    WalkingGraphRewriter as TopoOptimizer,
)
from pytensor.graph.rewriting.basic import (
    graph_rewriter as optimizer,
)
from pytensor.graph.rewriting.basic import (
    inplace_graph_rewriter as inplace_optimizer,
)
from pytensor.graph.rewriting.basic import (
    pre_greedy_node_rewriter as pre_greedy_local_optimizer,
)
from pytensor.graph.rewriting.utils import is_same_graph_with_merge
from pytensor.graph.utils import InconsistencyError


def local_optimizer(tracks: Sequence | None, inplace: bool = False, requirements: Sequence = ()):
    """Make a rewrite of one application from a function of it.

    Parameters
    ----------
    tracks : sequence of operators or operator classes, or None
        Which applications the function is asked about; None for all.
    inplace : bool
        Whether the rewrite makes operators work in place.
    requirements : sequence
        Features that the graph needs for it.

    Returns
    -------
    callable
        A decorator for a function ``f(node)`` that returns False, or the variables that
        replace the outputs of ``node``.
    """

    def decorate(rewrite: Callable[[Apply], object]) -> LocalOptimizer:
        @functools.wraps(rewrite)
        def on_graph(fgraph, node):
            return rewrite(node)

        return node_rewriter(tracks, inplace=inplace, requirements=tuple(requirements))(on_graph)

    return decorate


class OpRemove(LocalOptimizer):
    """Replace each application of an operator by its inputs.

    Parameters
    ----------
    op : Op
        An operator with as many outputs as inputs, of the same types.
    """

    def __init__(self, op):
        self.op = op

    def tracks(self):
        return [self.op]

    def transform(self, fgraph, node, *args, **kwargs):
        """Return the inputs of `node`, or False where it applies another operator."""
        if node.op != self.op or len(node.inputs) != len(node.outputs):
            return False
        return list(node.inputs)

    def __str__(self):
        return f"{self.op}(x) -> x"


class OpKeyOptimizer(NavigatorOptimizer):
    """Apply a rewrite to the applications of the operators that it tracks, until none changes.

    Parameters
    ----------
    local_opt : LocalOptimizer
        A rewrite whose `tracks` names its operators.
    """

    def __init__(self, local_opt, ignore_newtrees: bool = False, failure_callback=None):
        if not local_opt.tracks():
            raise ValueError(f"OpKeyOptimizer expects a rewrite that tracks operators: {local_opt}")
        super().__init__(
            local_opt, ignore_newtrees=ignore_newtrees, failure_callback=failure_callback
        )

    def apply(self, fgraph):
        """Apply the rewrite to each matching application in `fgraph`."""
        pending = list(fgraph.toposort())
        updater = self.attach_updater(fgraph, pending.append, None)
        try:
            while pending:
                node = pending.pop()
                if node in fgraph.apply_nodes:
                    self.process_node(fgraph, node)
        finally:
            self.detach_updater(fgraph, updater)
