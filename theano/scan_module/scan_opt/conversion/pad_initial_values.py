"""pad_initial_values: a state's initial value keeps as many dimensions as its buffer.

    empty(n + 1)[:1] = 0.0      ->   empty(n + 1)[:1] = [0.0]

PyTensor takes away dimensions in which the value is broadcast, and then, where it allocates fewer
rows for a state of which only the last value is read, reads the rows' shape from what is left.
It is legal because assignment adds the missing dimensions itself.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan


@node_rewriter([IncSubtensor])
def pad_initial_value(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Add the dimensions that the value of a loop's buffer lacks."""
    buffer, value, *index = node.inputs
    missing = buffer.type.ndim - value.type.ndim
    if (
        not missing
        or not node.op.set_instead_of_inc
        or buffer.owner is None
        or not isinstance(buffer.owner.op, AllocEmpty)
        or not any(isinstance(client.op, PyTensorScan) for client, _ in graph.clients[node.out])
    ):
        return None
    padded = node.op(buffer, pt.shape_padleft(value, missing), *index)
    copy_stack_trace(node.out, padded)
    return [padded]


PAD_INITIAL_VALUES = dfs_rewriter(pad_initial_value)
