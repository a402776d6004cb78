"""Elements in ascending order, and their positions."""

from __future__ import annotations

import numpy as np
from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.scalar_types import DTYPES
from theano.link.native.lowering.operations.shapes import constant_axis
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.call_runtime import CallRuntime, OfStack
from theano.pytensor_internals.operations.axes import axis_apart

# nanoseconds for an element
_SORT, _ORDER, _SEARCH = 6.0, 30.0, 0.1
# the kinds of sorts, by NumPy's names, that keep equal elements in their order
STABLE = ("stable", "mergesort")


@lowers(SortOp)
def in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the elements along an axis, NaN last."""
    axis, (value,) = axis_apart(node, inputs)
    stable = node.op.kind in STABLE
    return [sorted_along(step, value, constant_axis(step, axis, "a sort"), stable)]


@lowers(ArgSortOp)
def positions_in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Their positions; equal elements keep their order."""
    axis, (value,) = axis_apart(node, inputs)
    return [order_along(step, value, constant_axis(step, axis, "a sort"))]


def sorted_along(step: Step, value: Value, axis: int, stable: bool) -> View:
    """Return the elements in ascending order along an axis; zeros of either sign keep their order if it is stable."""
    axis %= value.ndim
    rows = axis_last(_sortable(step, value), axis)
    out = step.rows_without_gaps(rows.dtype, rows.shape)
    dtype, length = np.dtype(rows.dtype), rows.shape[-1]
    arguments = (dtype.num, dtype.itemsize, int(stable), length, OfStack(1, 1), OfStack(0))
    takes = [Work(_SORT, (length,))]
    written, stack = View.of(out), rows.shape[:-1]
    step.append(CallRuntime("sort", [written], [rows], arguments, stack, takes), out)
    return axis_back(written, axis)


def order_along(step: Step, value: Value, axis: int) -> View:
    """Return the positions of elements in ascending order along an axis."""
    axis %= value.ndim
    rows = side_by_side(step, axis_last(_sortable(step, value), axis))
    out = step.rows_without_gaps("int64", rows.shape)
    dtype = np.dtype(rows.dtype)
    numbers = dtype.num, dtype.itemsize, int(dtype.kind == "f")
    return axis_back(_positions(step, "argsort", numbers, rows, View.of(out), _ORDER), axis)


def _sortable(step: Step, value: Value) -> View:
    view = step.view(value)
    if view.dtype not in DTYPES:
        raise CannotLower(f"sorting {view.dtype}")
    return view


def largest_of_rows(step: Step, rows: View) -> View:
    """Return where the first largest element of each row is, or the first NaN."""
    out = step.rows_without_gaps("int64", rows.shape[:-1])
    numbers = (np.dtype(rows.dtype).num,)
    return _positions(step, "argmax", numbers, side_by_side(step, rows), View.of(out), _SEARCH)


def _positions(
    step: Step, function: str, numbers: tuple[int, ...], rows: View, out: View, each: float
) -> View:
    length = rows.shape[-1]
    arguments = (*numbers, length, OfStack(1), OfStack(0))
    stack, takes = rows.shape[:-1], [Work(each, (length,))]
    statement = CallRuntime(function, [out], [rows], arguments, stack, takes)
    step.append(statement, out.buffer)
    return out


def axis_last(view: View, axis: int) -> View:
    """Return a view whose axis is moved to the end."""
    order = [d for d in range(view.ndim) if d != axis] + [axis]
    return turned(view, order)


def axis_back(view: View, axis: int) -> View:
    """Return a view whose last axis is moved to where it was."""
    order = list(range(view.ndim - 1))
    order.insert(axis, view.ndim - 1)
    return turned(view, order)


def turned(view: View, order: list[int]) -> View:
    """Return a view with its dimensions in another order."""
    shape = tuple(view.shape[d] for d in order)
    axes = tuple(view.axes[d] for d in order)
    steps = tuple(view.steps[d] for d in order)
    return View(view.buffer, shape, axes, steps, view.start)


def side_by_side(step: Step, rows: View) -> View:
    """Rows whose elements lie side by side: these, or a copy."""
    if place_of(rows, step.sizes).strides[-1] == Product(1):
        return step.keep_order(rows)
    return View.of(step.copied(rows))
