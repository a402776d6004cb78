"""Numbers less their largest, as they are written by hand before exponentials are taken of them."""

from __future__ import annotations

from collections.abc import Collection

from pytensor.graph.basic import Apply, Variable
from pytensor.scalar.basic import ScalarMaximum
from pytensor.tensor.elemwise import CAReduce, DimShuffle
from pytensor.tensor.math import sub

from theano.pytensor_internals.graphs.kinds import is_a


def axes_of(node: Apply) -> tuple[int, ...]:
    """Return the dimensions over which a node reduces, or normalises."""
    axes = node.op.axis
    return tuple(range(node.inputs[0].type.ndim)) if axes is None else tuple(sorted(axes))


def less_its_largest(variable: Variable, axes: Collection[int]) -> Variable | None:
    """Return ``x`` of ``x - x.max(axes, keepdims=True)``, and None of anything else."""
    node = variable.owner
    if node is None or node.op != sub:
        return None
    x, largest = node.inputs
    expanded = largest.owner
    if expanded is None or not is_a(expanded.op, DimShuffle):
        return None
    reduced = expanded.inputs[0].owner
    if (
        reduced is None
        or not is_a(reduced.op, CAReduce)
        or not is_a(reduced.op.scalar_op, ScalarMaximum)
        or reduced.inputs[0] is not x
        or axes_of(reduced) != tuple(axes)
    ):
        return None
    kept = iter(range(x.type.ndim - len(axes)))
    order = tuple("x" if d in axes else next(kept) for d in range(x.type.ndim))
    # a last result along an axis that stays may lie along another one
    padded = ("x",) * (x.type.ndim - len(expanded.op.new_order)) + tuple(expanded.op.new_order)
    return x if padded == order else None
