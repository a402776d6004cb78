"""Forgets the normal forms of steps, once the rewrites that edit loops have run."""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.equal_loops import forget_equal_steps
from theano.scan_module.step.normal_form import forget_normal_form


class ForgetNormalForms(GraphRewriter):
    """Leaves the graph as it is."""

    name = "forget_normal_forms"

    def apply(self, graph: FunctionGraph) -> None:
        """Forget the normal form of each loop of the graph."""
        forget_equal_steps()
        for node in graph.apply_nodes:
            if is_a(node.op, Scan):
                forget_normal_form(node)
