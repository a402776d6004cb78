"""Elements along the last axis that a constant vector of indices selects, and updates of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Constant, Variable

from theano.link.native.ir.ir import Buffer, Size, Value, View
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing.indexing import aligned
from theano.link.native.lowering.step import Step
from theano.link.native.statements.columns_by_index import TakeColumns, UpdateColumns
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Columns:
    """Indices along the last axis that are in range, and whether some count from the end."""

    index: View
    from_end: bool


def columns_by_constant(
    step: Step, shape: Sequence[Size], idx_list: Sequence, indices: Sequence[Variable]
) -> Columns | None:
    """Return the columns that a constant vector names, after a check that there are so many; None if it is none."""
    *leading, last = [*idx_list]
    variable = indices[-1]
    if len(idx_list) != len(shape) or last != 0 or any(one != slice(None) for one in leading):
        return None
    # along one column there is no loop, in which rows would be taken for columns
    if not isinstance(variable, Constant) or variable.type.ndim != 1 or len(variable.data) < 2:
        return None
    if variable.type.dtype in ("bool", "uint64"):
        return None
    index = np.asarray(variable.data, "int64")
    least, most = int(index.min()), int(index.max())
    size, needed = shape[-1], max(most + 1, -least)
    if isinstance(size, int) and size < needed:
        return None
    if not isinstance(size, int):
        step.sizes.check(compared(size, ">=", needed), "index out of range")
    return Columns(step.constant_array(index), least < 0)


def take_columns(step: Step, source: View, columns: Columns) -> View:
    """Return the columns of an array that are named, as an array."""
    index = columns.index
    out = step.temporary(source.dtype, (*source.shape[:-1], index.shape[0]))
    step.append(TakeColumns(View.of(out), source, index, columns.from_end), out)
    return View.of(out)


def update_columns(step: Step, node, buffer: Buffer, change: Value, columns: Columns) -> View:
    """Set or increase the columns of an array that are named, once for each time."""
    index = columns.index
    ndim = len(buffer.shape)
    shape = (*buffer.shape[:-1], index.shape[0])
    like = View(buffer, shape, (None,) * ndim, (0,) * ndim, (0,) * ndim)
    source = aligned(step, cast(step, change, buffer.dtype), node.inputs[1], like)
    add = not node.op.set_instead_of_inc
    step.append(UpdateColumns(View.of(buffer), source, index, columns.from_end, add), buffer)
    return View.of(buffer)
