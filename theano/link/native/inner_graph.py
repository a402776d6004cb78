"""The step's graph as the lowering wants it: rewritten, not fused, nothing in place."""

from __future__ import annotations

from pytensor.compile.mode import optdb
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.scan.op import Scan

from theano.schedule import arranged
from theano.schedule.left_out import FROM_EVERY_MODE

_REWRITES = RewriteDatabaseQuery(
    include=["fast_run"],
    # Element-wise operations and products are joined by the engine, which sees more.
    exclude=["inplace", "fusion", "BlasOpt", "scan_make_inplace", "cxx_only", *FROM_EVERY_MODE],
)


def prepared(op: Scan) -> FunctionGraph:
    """A rewritten copy of a step's graph; the inputs and outputs keep their order."""
    graph: FunctionGraph = op.fgraph.clone(clone_inner_graphs=True)  # type: ignore[attr-defined]
    arranged(optdb.query(_REWRITES)).rewrite(graph)
    return graph
