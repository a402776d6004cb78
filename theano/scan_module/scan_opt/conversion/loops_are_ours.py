"""Loops that PyTensor's rewrites rebuilt, with PyTensor's op, get ours again."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.scan import FrozenWhenAsked
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.scan_op import Scan
from theano.scan_module.scan_opt.loop_rewriter import Checked, LoopRewriter


class LoopsAreOurs(LoopRewriter):
    """Runs last, so that the loops of a compiled function are recognized by their class."""

    name = "loops_are_ours"
    heading = "of this package"

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return whether the node is one of PyTensor's op, or of what is below ours."""
        rebuilt = type(node.op) in (PyTensorScan, FrozenWhenAsked)
        return Checked(transform=lambda: _ours(node)) if rebuilt else None


def _ours(node: Apply) -> dict[Variable, Variable]:
    ours = Apply(Scan.of_pytensor(node.op), node.inputs, [out.type() for out in node.outputs])
    for old, new in zip(node.outputs, ours.outputs, strict=True):
        new.name = old.name
    return dict(zip(node.outputs, ours.outputs, strict=True))
