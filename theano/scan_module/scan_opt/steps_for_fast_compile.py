"""Steps of loops in FAST_COMPILE: compiled as their function is, with few rewrites and by Python.

A step is a function of its own and has a mode of its own. Where the user named none, it is the
default mode, whose compilation takes longer than that of the function around it.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.graphs.rewriting import GraphRewriter
from theano.pytensor_base.graphs.scan import Scan as PyTensorScan
from theano.scan_module.scan_opt.loop_rewriter import loops_of
from theano.scan_module.step_modes import step_modes


class StepsForFastCompile(GraphRewriter):
    """Gives the mode FAST_COMPILE to loops, and loops inside them, that have the default mode."""

    name = "steps_for_fast_compile"

    def apply(self, graph: FunctionGraph) -> None:
        """Replace the loops of a graph by loops that differ in their mode."""
        for node in list(loops_of(graph)):
            if node.op.mode is step_modes().default():
                made = Apply(self._op(node.op), node.inputs, [v.clone() for v in node.outputs])
                graph.replace_all(
                    list(zip(node.outputs, made.outputs, strict=True)), reason=self.name
                )

    def _op(self, op: PyTensorScan) -> PyTensorScan:
        made = op.clone()
        made.mode = step_modes().quick
        self.apply(made.fgraph)  # type: ignore[attr-defined]
        return made
