"""What every rewrite of loops has in common: it visits the loops and notes what it decided."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.rewriting import GraphRewriter
from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.scan_module.report.loop_history import Decision, history_of, origins_of
from theano.schedule.seconds import SecondsByLoop


def loops_of(graph: FunctionGraph) -> Iterator[Apply]:
    """The nodes of the graph that are loops, each before those that read it."""
    for node in graph.toposort():
        if isinstance(node.op, PyTensorScan):
            yield node


class LoopRewriter(GraphRewriter):
    """A rewrite that is applied to each loop of a graph once.

    Subclasses implement ``rewrite_loop``; ``name`` is what reports call them.
    """

    def apply(self, graph: FunctionGraph) -> SecondsByLoop:
        """Visit each loop; return the seconds that each one took, for the profile."""
        seconds = SecondsByLoop()
        for node in list(loops_of(graph)):
            if node in graph.apply_nodes:
                start = time.perf_counter()
                with history_of(graph).visiting(node):
                    self.rewrite_loop(graph, node)
                name = node.op.name or "scan"
                seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start
        return seconds

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Rewrite one loop, if that is possible."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to rewrite a loop")

    def note(
        self, graph: FunctionGraph, node: Apply, subject: object, applied: bool, detail: str
    ) -> None:
        """Keep a decision for the report."""
        history_of(graph).decisions.append(
            Decision(
                node.op.name or "scan", self.name, str(subject), applied, detail, origins_of(node)
            )
        )
