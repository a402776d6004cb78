"""A loop within a ``Blockwise``, and what surrounds it, becomes a loop with batch dimensions."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.blockwise import Blockwise

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, in2out, node_rewriter
from theano.scan_module.batched_loops import batched


@node_rewriter([Blockwise])
def loops_in_batches(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``Blockwise{Scan}(...)`` -> ``Scan(...)`` with batch dimensions in its step."""
    results = batched(node)
    if results is not None:
        copy_stack_trace(node.outputs, results)
    return results


# from the inputs on: a loop is converted when the buffers that it is given have been
LOOPS_IN_BATCHES = in2out(loops_in_batches, name="loops_in_batches")
