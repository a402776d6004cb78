"""Loops are given no values whose types say more than those of their places in the step.

Rewrites outside of a loop may find out that a dimension has length 1; PyTensor's rewrites of loops
make no loop anew of such a value.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.graphs.rewriting import node_rewriter
from theano.pytensor_base.graphs.scan import Scan
from theano.scan_module.loop.fitting_invariants import with_fitting_invariants


@node_rewriter([Scan])
def invariants_fit(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Forget lengths of 1 that the places of invariants in the step are not told."""
    fitting = with_fitting_invariants(node.op, node.inputs)
    if all(new is old for new, old in zip(fitting, node.inputs, strict=True)):
        return None
    return node.op.make_node(*fitting).outputs
