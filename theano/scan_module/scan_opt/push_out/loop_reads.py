"""The outer graph's reads of the outputs of a loop."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.scan_module.loop.constant_index import constant_index, constant_of


def reads_of_last_value(graph: FunctionGraph, output: Variable, span: int) -> list[Variable] | None:
    """Return the variables that are the last row of a state's buffer; None if anything else reads it.

    ``output[-1]`` is such a read, and ``output[span:][-1]`` (what ``scan`` returns, read by the
    user) too.

    Parameters
    ----------
    graph
        The outer graph.
    output
        The buffer, an output of a loop.
    span
        How many rows the buffer has before the first step's.
    """
    found = []
    for client, _ in graph.clients[output]:
        index = _leading_index(client)
        if index == -1:
            found.append(client.outputs[0])
        elif isinstance(index, slice) and index.stop is None and index.step in (None, 1):
            start = 0 if index.start is None else index.start
            if not 0 <= start <= span:
                return None
            inner = reads_of_last_value(graph, client.outputs[0], span - start)
            if inner is None:
                return None
            found += inner
        else:
            return None
    return found


def _leading_index(client: Apply) -> int | slice | None:
    """Return the constant index of a read of the first axis only; None for other uses."""
    if not isinstance(client.op, Subtensor):
        return None
    return constant_index(client.op.idx_list, client.inputs)


def farthest_from_the_end(graph: FunctionGraph, output: Variable) -> int | None:
    """Return the k for which rows from the k-th last on are all that is read of an output.

    Returns
    -------
    int or None
        None if nothing is read, or rows are not all counted from the last.
    """
    rows = [
        from_the_end(_first_index(reader)) if position == 0 else None
        for reader, position in graph.clients[output]
    ]
    known = [row for row in rows if row is not None]
    return max(known, default=None) if len(known) == len(rows) else None


def from_the_end(index: int | slice | None) -> int | None:
    """Return how far from the end an index begins; None if part of it is not counted from the end."""
    if isinstance(index, slice):
        ends_there = index.stop is None or index.stop < 0
        forward = index.step is None or index.step > 0
        index = index.start if ends_there and forward else None
    return -index if index is not None and index < 0 else None


def _first_index(reader: Apply) -> int | slice | None:
    """Return the constant index of the first axis in a read; None for other uses."""
    if not isinstance(reader.op, Subtensor):
        return None
    return constant_of(get_idx_list(reader.inputs, reader.op.idx_list)[0])
