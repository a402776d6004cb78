"""Note what the loops of a graph are before the first rewrite changes them, for the report."""

from __future__ import annotations

from pytensor.graph.basic import Apply, clone_get_equiv
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.scan_module.report.loop_history import LoopRecord, history_of
from theano.scan_module.scan_opt.loop_rewriter import loops_of


class RecordLoops(GraphRewriter):
    """Number the loops, and keep a copy of the graph that they are computed from.

    The graph stays as it is. Anything that takes time is left to the report.
    """

    name = "record_loops"

    def apply(self, graph: FunctionGraph) -> None:
        """Record each loop, unless the graph was recorded before."""
        history = history_of(graph)
        nodes = list(loops_of(graph))
        if history.records or not nodes:
            return
        # rewrites change nodes in place, so the record needs its own
        copies = clone_get_equiv(
            [], [output for node in nodes for output in node.outputs], copy_orphans=False
        )
        history.inputs = tuple(graph.inputs)
        for number, node in enumerate(nodes):
            node.tag.loop_origins = (number,)
            copy = copies[node]
            assert isinstance(copy, Apply)
            history.records.append(LoopRecord(number, copy))
