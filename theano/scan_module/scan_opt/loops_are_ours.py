"""Loops that PyTensor's rewrites made anew, with PyTensor's op, get ours again."""

from __future__ import annotations

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.scan_module.scan_op import Scan
from theano.scan_module.scan_opt.loop_rewriter import LoopRewriter


class LoopsAreOurs(LoopRewriter):
    """Runs last, so that the loops of a compiled function are recognized by their class."""

    name = "loops_are_ours"

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Replace the node of PyTensor's op by one of ours."""
        if type(node.op) is not PyTensorScan:
            return
        ours = Apply(Scan.of_pytensor(node.op), node.inputs, [out.type() for out in node.outputs])
        for old, new in zip(node.outputs, ours.outputs, strict=True):
            new.name = old.name
        graph.replace_all(
            list(zip(node.outputs, ours.outputs, strict=True)), reason="loops_are_ours"
        )
