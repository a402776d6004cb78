"""Make one the forward loops that gradients built again; runs before anything else."""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.scan_module.gradient.forward_loops import unify_forward_loops


class UnifyForwardLoops(GraphRewriter):
    """Replace the loops of each family over the same inputs by one, see ``forward_loops``."""

    def apply(self, graph: FunctionGraph) -> int:
        """Apply the rewrite; return how many loops went."""
        return unify_forward_loops(graph)
