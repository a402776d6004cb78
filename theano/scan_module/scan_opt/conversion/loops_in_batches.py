"""A loop within a ``Blockwise``, and what surrounds it, becomes a loop with batch dimensions."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.blockwise import Blockwise

from theano.pytensor_internals.graphs.rewriting import (
    GraphRewriter,
    copy_stack_trace,
    in2out,
    node_rewriter,
)
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.batched_loops import batched


@node_rewriter([Blockwise])
def loops_in_batches(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``Blockwise{Scan}(...)`` -> ``Scan(...)`` with batch dimensions in its step."""
    results = batched(node)
    if results is not None:
        copy_stack_trace(node.outputs, results)
    return results


# from the inputs on: a loop is converted when the buffers that it is given have been
_FROM_THE_INPUTS = in2out(loops_in_batches, name="loops_in_batches")


class LoopsInBatches(GraphRewriter):
    """Converts what surrounds loops only where there are loops: PyTensor has rules for the rest."""

    name = "loops_in_batches"

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Add what the walk through a graph needs."""
        _FROM_THE_INPUTS.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, *arguments: object, **settings: object) -> Any:
        """Convert a graph that has a loop in a batch."""
        if any(_holds_loop(node) for node in fgraph.apply_nodes):
            return _FROM_THE_INPUTS.apply(fgraph, *arguments, **settings)
        return None


def _holds_loop(node: Apply) -> bool:
    return isinstance(node.op, Blockwise) and isinstance(node.op.core_op, PyTensorScan)


LOOPS_IN_BATCHES = LoopsInBatches()
