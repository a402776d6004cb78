"""Rows in reverse, read at once from what they are themselves a part of.

A backward loop reads what a forward loop wrote from its end; the backward loop of that one reads it
forward again. PyTensor would make one slice of two by choices between their bounds.
"""

from __future__ import annotations

from pytensor.graph.basic import Variable
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.scan_module.loop.constant_index import constant_index


def reversed_rows(rows: TensorVariable) -> TensorVariable:
    """Return the rows of an array from the last one to the first one."""
    part = _part(rows)
    if part is None:
        return rows[::-1]
    whole, start, stop, step = part
    # places from the end are negative, those from the beginning are not
    if step == 1 and (start or 0) >= 0 and (stop is None or stop < 0):
        return whole[stop and stop - 1 : start - 1 if start else None : -1]
    if step == -1 and (start is None or start < 0) and (stop is None or stop >= 0):
        first = 0 if stop is None else stop + 1
        end = None if start in (None, -1) else start + 1  # type: ignore[operator]
        return whole if not first and end is None else whole[first:end]
    return rows[::-1]


def _part(rows: Variable) -> tuple[TensorVariable, int | None, int | None, int] | None:
    """Return the array of which rows are a slice along its first axis only, and the bounds."""
    node = rows.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    index = constant_index(node.op.idx_list, node.inputs)
    if not isinstance(index, slice):
        return None
    whole, step = known_tensor(node.inputs[0]), 1 if index.step is None else index.step
    return whole, index.start, index.stop, step
