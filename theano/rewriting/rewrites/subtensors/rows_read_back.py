"""Rows that were set are read at the same places: what they were set to, if there are these rows.

PyTensor's rewrite never asks that there are, nor that they were set to as many.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.math import all as every
from pytensor.tensor.math import and_, eq, ge, lt
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import AdvancedSubtensor1
from theano.pytensor_internals.operations.tensor_rewrites import subtensor
from theano.rewriting.rewrites.of_pytensor.guards import same_length

_THERE = CheckAndRaise(IndexError, "set_subtensor: the rows that are set must be there")
_AS_MANY = CheckAndRaise(ValueError, "set_subtensor: rows must be set to as many as they are")


@node_rewriter([Subtensor, AdvancedSubtensor, AdvancedSubtensor1])
def rows_read_back(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Return ``v`` for ``x[rows].set(v)[rows]``, with the errors of the write; others too."""
    made = subtensor.local_read_of_write_same_indices.transform(graph, node)
    write = node.inputs[0].owner
    if made and any(is_a(client.op, Scan) for client, _ in graph.clients[node.outputs[0]]):
        # the place in the step has no static length of 1 for the value, and PyTensor takes no other
        if _ones(made[0]) != _ones(node.outputs[0]):
            return None
    if not made or not write.op.set_instead_of_inc or not _of_rows(node):
        return made
    array: Any
    places: Any
    array, _, places = write.inputs
    count = array.shape[0]
    result: Any = _THERE(made[0], every(and_(lt(places, count), ge(places, -count))))
    lengths = _unknown_lengths(graph, node, write)
    if lengths:
        result = _AS_MANY(result, *lengths)
    copy_stack_trace(node.outputs[0], result)
    return [result]


def _ones(variable: Variable) -> set[int]:
    return {axis for axis, one in enumerate(variable.type.broadcastable) if one}  # type: ignore[attr-defined]


def _of_rows(node: Apply) -> bool:
    """Return whether rows are read that a vector of integers names."""
    places: Any = node.inputs[1:]
    return len(places) == 1 and places[0].type.ndim == 1 and places[0].type.dtype != "bool"


def _unknown_lengths(graph: FunctionGraph, node: Apply, write: Apply) -> list[Any]:
    """Return which lengths of values and rows must agree and are not known to."""
    array: Any
    values: Any
    places: Any
    array, values, places = write.inputs
    read: Any = node.outputs[0]
    conditions: list[Any] = []
    shapes = getattr(graph, "shape_feature", None)
    # from the last dimension to the first, as values are broadcast
    for back in range(1, values.type.ndim + 1):
        axis, of_read = values.type.ndim - back, read.type.ndim - back
        if values.type.broadcastable[axis]:
            continue
        if of_read:
            if not same_length(shapes, values, axis, array, of_read):
                conditions.append(eq(values.shape[axis], array.shape[of_read]))
        elif not same_length(shapes, values, axis, places, 0):
            conditions.append(eq(values.shape[axis], places.shape[0]))
    return conditions
