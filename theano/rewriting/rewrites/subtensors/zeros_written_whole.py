"""Zeros, all of which are written, become what was written.

The gradient by a sequence of which a loop reads the first ``n`` rows adds to zeros as long as the
sequence. Where it has just ``n`` rows, the zeros and the addition to them are two passes over memory
as large as all steps together.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import ScalarFromTensor
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.rewriting.zeros import is_zero


@node_rewriter([IncSubtensor])
def zeros_written_whole(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``zeros(n, m)[:n].inc(v)`` -> ``v``, where v is known to have the shape of the zeros."""
    zeros: Any
    value: Any
    zeros, value = node.inputs[:2]
    shapes = getattr(graph, "shape_feature", None)
    if shapes is None or value.type.dtype != zeros.type.dtype or not is_zero(zeros):
        return None
    if value.type.ndim != zeros.type.ndim or not shapes.same_shape(value, zeros):
        return None
    entries = get_idx_list(node.inputs[1:], node.op.idx_list)
    for axis, entry in enumerate(entries):
        if not _is_whole(entry, shapes.get_shape(zeros, axis)):
            return None
    result = node.outputs[0].type.filter_variable(value)
    copy_stack_trace(node.outputs[0], result)
    return [result]


def _is_whole(entry: object, length: object) -> bool:
    """Return whether a slice goes over all of an axis, in order."""
    if not isinstance(entry, slice) or entry.step not in (None, 1):
        return False
    start = entry.start.data if isinstance(entry.start, Constant) else entry.start
    return start in (None, 0) and (entry.stop is None or _same(entry.stop, length))


def _same(stop: Any, length: object) -> bool:
    if stop.owner is not None and isinstance(stop.owner.op, ScalarFromTensor):
        stop = stop.owner.inputs[0]
    if isinstance(stop, Constant) and isinstance(length, Constant):
        return bool(stop.data == length.data)
    return stop is length
