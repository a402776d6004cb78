"""Note what the loops of a graph are before the first rewrite changes them, for the report."""

from __future__ import annotations

from pytensor.graph.basic import Apply, clone_get_equiv
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.graphs.rewriting import GraphRewriter
from theano.scan_module.loop.arguments import take_apart
from theano.scan_module.loop.roles import Roles
from theano.scan_module.report.loop_history import LoopRecord, history_of
from theano.scan_module.scan_opt.loop_rewriter import loops_of
from theano.scan_module.step.products import products_among


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
            history.records.append(_record(number, copies[node]))


def _record(number: int, node: Apply) -> LoopRecord:
    loop = take_apart(node)
    extended = getattr(node.op, "extends", None)
    saved = () if extended is None else loop.traces[Roles.of(extended).traces :]
    return LoopRecord(
        number,
        node.op.name or "scan",
        loop,
        len(products_among(node.op.fgraph.toposort())),
        saved,
        getattr(node.op, "save_policy", None),
    )
