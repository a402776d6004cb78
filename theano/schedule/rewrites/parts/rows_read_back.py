"""Rows that were set are read at the same places: what they were set to, if there are these rows.

PyTensor's rewrite never asks that there are, nor that they were set to as many.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import Assert
from pytensor.tensor.math import all as every
from pytensor.tensor.math import and_, eq, ge, lt
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

from theano.pytensor_base.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_base.operations.tensor import AdvancedSubtensor1
from theano.pytensor_base.operations.tensor_rewrites import subtensor
from theano.schedule.rewrites.of_pytensor.where_right import same_length

_THERE = Assert("set_subtensor: the rows that are set must be there, and be set to as many")


@node_rewriter([Subtensor, AdvancedSubtensor, AdvancedSubtensor1])
def rows_read_back(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``x[rows].set(v)[rows]`` -> ``v``, asserting what is not known of the rows; others too."""
    made = subtensor.local_read_of_write_same_indices.transform(graph, node)
    write = node.inputs[0].owner
    if not made or not write.op.set_instead_of_inc or not _of_rows(node):
        return made
    conditions = _unknown(graph, node, write)
    if not conditions:
        return made
    result: Any = _THERE(made[0], *conditions)
    copy_stack_trace(node.outputs[0], result)
    return [result]


def _of_rows(node: Apply) -> bool:
    """Whether rows are read that a vector of integers names."""
    places: Any = node.inputs[1:]
    return len(places) == 1 and places[0].type.ndim == 1 and places[0].type.dtype != "bool"


def _unknown(graph: FunctionGraph, node: Apply, write: Apply) -> list[Any]:
    """What must hold of the rows and is not known."""
    array: Any
    values: Any
    places: Any
    array, values, places = write.inputs
    read: Any = node.outputs[0]
    count = array.shape[0]
    conditions = [every(and_(lt(places, count), ge(places, -count)))]
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
