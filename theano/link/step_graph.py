"""The step's graph as the lowering wants it: rewritten, not fused, nothing in place."""

from __future__ import annotations

from functools import lru_cache

from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import (
    copy_of_graph_inside,
    frozen_graph_inside,
    without_history,
)
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, RewriteDatabaseQuery
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting import arranged
from theano.rewriting.database import FAST_RUN_TAG, STEPS_TAG, optdb
from theano.rewriting.rewrites.of_pytensor.left_out import FROM_EVERY_MODE

_REWRITES = RewriteDatabaseQuery(
    include=["fast_run", FAST_RUN_TAG, STEPS_TAG],
    # Element-wise operations and products are joined by the engine, which sees more.
    exclude=["inplace", "fusion", "BlasOpt", "scan_make_inplace", "cxx_only", *FROM_EVERY_MODE],
)
# The layers of a network have equal steps; more than this many graphs are not kept.
GRAPHS_KEPT = 32


def prepared(op: Scan) -> FunctionGraph:
    """Return a rewritten copy of a step's graph; the inputs and outputs keep their order.

    Loops with equal steps that were written in the same lines get the same graph, which must
    not be changed.
    """
    return _rewritten(EqualSteps(op))


class EqualSteps:
    """A loop as a key: equal to one whose step computes the same, and names the same lines."""

    def __init__(self, op: Scan):
        self.op = op
        # interned by PyTensor, so that it is quickly compared
        frozen = frozen_graph_inside(op)
        graph: FunctionGraph = op.fgraph  # type: ignore[attr-defined, assignment]
        self.lines = [getattr(node.outputs[0].tag, "trace", None) for node in in_order(graph)]
        self.step = frozen
        self._hash = hash(frozen)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EqualSteps) and self.step == other.step and self.lines == other.lines
        )


@lru_cache(maxsize=GRAPHS_KEPT)
def _rewritten(key: EqualSteps) -> FunctionGraph:
    graph = copy_of_graph_inside(key.op)
    _rewriter(optdb.numbers_of_entries()).rewrite(graph)
    without_history(graph.apply_nodes)
    return graph


@lru_cache(maxsize=1)
def _rewriter(numbers_of_entries: tuple[tuple[int, ...], ...]) -> GraphRewriter:
    """Return the rewrites of steps, chosen again when a rewrite was registered, or its tags changed."""
    return arranged(optdb.query(_REWRITES))
