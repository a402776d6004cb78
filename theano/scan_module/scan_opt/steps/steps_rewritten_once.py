"""Steps of loops that are rewritten while the function around them is, equal ones once.

Where a step is a separate function, its compilation rewrites it. The layers of a network have
equal steps: here each is rewritten for all of them, and their functions only link it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from pytensor.compile.mode import Mode
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.scan import FrozenWhenAsked, Scan, step_shared_with
from theano.scan_module.loop.arguments import NORMAL_STEP
from theano.scan_module.loop.op_of_step import step_graph
from theano.scan_module.scan_opt.steps.steps_of_mode import StepsOfMode
from theano.scan_module.step.equal_steps import what_decides


class StepsRewrittenOnce(StepsOfMode):
    """Gives loops that have the default mode another one, and the steps that it makes of theirs."""

    def making(self) -> Callable[[Scan], Scan]:
        """Return what makes the loops of one graph, which remembers their steps."""
        mode = self.mode()
        steps: dict[Hashable, FunctionGraph] = {}

        def made(op: Scan) -> Scan:
            if not isinstance(op, FrozenWhenAsked):
                return self.of_mode(op)
            key = what_decides(op)
            if key not in steps:
                steps[key] = _rewritten(op, mode)
            loop = op.around_rewritten(step_shared_with(steps[key]))
            loop.mode = mode
            vars(loop).pop(NORMAL_STEP, None)
            return loop

        return made


def _rewritten(op: Scan, mode: Mode) -> FunctionGraph:
    """Return the step of a loop as a mode rewrites it; loops inside it have that mode then."""
    graph = copy_of_graph_inside(op)
    mode.optimizer.rewrite(graph)
    return step_graph(graph.inputs, graph.outputs)
