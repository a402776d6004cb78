"""Elements in ascending order, and their positions."""

from __future__ import annotations

from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.scalar_types import DTYPES
from theano.link.native.lowering.operations.shapes import constant_axis
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import SortAlong
from theano.pytensor_base.operations.axes import axis_apart

# nanoseconds for an element
_SORT = 60.0


@lowers(SortOp)
def in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The elements along an axis, NaN last."""
    axis, (value,) = axis_apart(node, inputs)
    return [sorted_along(step, value, constant_axis(step, axis, "a sort"), positions=False)]


@lowers(ArgSortOp)
def positions_in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Their positions; equal elements keep their order."""
    axis, (value,) = axis_apart(node, inputs)
    return [sorted_along(step, value, constant_axis(step, axis, "a sort"), positions=True)]


def sorted_along(step: Step, value: Value, axis: int, positions: bool) -> View:
    """The elements, or their positions, in ascending order along an axis."""
    view = step.view(value)
    axis %= view.ndim
    if view.dtype not in DTYPES:
        raise CannotLower(f"a sort of {view.dtype}")
    length = view.shape[axis]
    out = step.temporary("int64" if positions else view.dtype, view.shape)
    orders = [step.rows_without_gaps("int64", (length,)) for _ in range(2)]
    writes = [View.of(out), *map(View.of, orders)]
    step.append(
        Kernel(writes, [view], SortAlong(axis, positions), takes=[Work(_SORT, view.shape)]),
        out,
        *orders,
    )
    return View.of(out)
