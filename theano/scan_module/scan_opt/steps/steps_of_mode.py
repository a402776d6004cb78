"""Steps of loops that are compiled as the function around them is.

A step is a separate function where the loop is not compiled as a whole, and has its own mode:
where the user named none, it is the default mode. In FAST_COMPILE its compilation takes longer than that of
the function around it, and in modes that look at values it would not be looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.pytensor_internals.graphs.scan import step_to_change
from theano.rewriting.step_modes import step_modes
from theano.scan_module.scan_opt.loop_rewriter import loops_of


class StepsOfMode(GraphRewriter):
    """Gives a mode to loops, and loops inside them, that have the default mode.

    Parameters
    ----------
    name
        Of the rewrite.
    mode
        The mode of their steps.
    """

    def __init__(self, name: str, mode: Callable[[], Mode]):
        self.name, self.mode = name, mode

    def apply(self, graph: FunctionGraph) -> None:
        """Replace the loops of a graph by loops that differ in their mode."""
        make = self.making()
        for node in list(loops_of(graph)):
            if node.op.mode is step_modes().default():
                made = Apply(make(node.op), node.inputs, [v.clone() for v in node.outputs])
                graph.replace_all(
                    list(zip(node.outputs, made.outputs, strict=True)), reason=self.name
                )

    def making(self) -> Callable[[PyTensorScan], PyTensorScan]:
        """Return what makes the loops that take the place of those of a graph."""
        return self.of_mode

    def of_mode(self, op: PyTensorScan) -> PyTensorScan:
        """Return the same loop with the mode, as have those inside its step."""
        made = op.clone()
        made.mode = self.mode()
        self.apply(step_to_change(made))
        return made
