"""trim_empty_buffers: a buffer of a state is allocated as long as it is read.

    empty(n)[:1] = row, of which [:k] is read   ->   empty(min(n, k))[:1] = row

PyTensor trims the buffer of a state whose steps nobody reads in this way, but allocates all of it
first if the row is broadcast. It is legal because the rows that are read stay as they are.
"""

from __future__ import annotations

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.pytensor_internals.graphs.rewriting import dfs_rewriter, node_rewriter
from theano.scan_module.loop.constant_index import constant_index


@node_rewriter([Subtensor])
def trim_empty_buffer(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Make a buffer, of which few rows are read, with these rows alone."""
    written = node.inputs[0].owner
    stop = _leading_stop(node)
    if stop is None or written is None or not isinstance(written.op, IncSubtensor):
        return None
    empty = written.inputs[0].owner
    first = constant_index(written.op.idx_list, [written.inputs[0], *written.inputs[2:]])
    if (
        empty is None
        or not isinstance(empty.op, AllocEmpty)
        or not written.op.set_instead_of_inc
        or not isinstance(first, slice)
        or first.start not in (None, 0)
        or first.step not in (None, 1)
        or first.stop is None
        or not 0 <= first.stop <= stop
    ):
        return None
    length, *row_shape = empty.inputs
    short = empty.op(pt.minimum(length, stop), *row_shape)
    result = written.op(short, *written.inputs[1:])
    return [node.outputs[0].type.filter_variable(result)]


def _leading_stop(node: Apply) -> int | None:
    index = constant_index(node.op.idx_list, node.inputs)
    if not isinstance(index, slice) or index.start not in (None, 0) or index.step not in (None, 1):
        return None
    return index.stop if index.stop is not None and index.stop >= 0 else None


TRIM_EMPTY_BUFFERS = dfs_rewriter(trim_empty_buffer)
