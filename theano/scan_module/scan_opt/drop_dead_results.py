"""drop_dead_results: a loop computes what is read of it, and is given what that needs."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.scan_module.loop.arguments import Loop
from theano.scan_module.scan_op import Scan
from theano.scan_module.scan_opt.loop_rewriter import Checked, LoopRewriter
from theano.scan_module.step.dead_results import without_dead_results
from theano.scan_module.step.normal_form import normal_form


class DropDeadResults(LoopRewriter):
    """Make loops without results that nobody reads; the next rewrites get them in normal form."""

    name = "drop_dead_results"
    heading = "of this package"
    readers_first = True

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return whether there are such results."""
        if all(map(graph.clients.get, node.outputs)):
            return None
        shorter = without_dead_results(normal_form(node), graph)
        return None if shorter is None else Checked(transform=lambda: _replacements(shorter, graph))


def _replacements(shorter: Loop, graph: FunctionGraph) -> dict[Variable, Variable]:
    built = shorter.build(Scan).replacements()
    return {old: new for old, new in built.items() if graph.clients[old]}
