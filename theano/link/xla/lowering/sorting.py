"""Sorted elements and their positions."""

from __future__ import annotations

from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.xla.lowering.table import lowers
from theano.pytensor_base.operations.axes import axis_apart, positions_with_axis


@lowers(SortOp, concrete=positions_with_axis(SortOp))
def in_order(op, node, inputs, context):
    """The elements in ascending order along a dimension, NaN last."""
    import jax.numpy as jnp

    axis, (x,) = axis_apart(node, inputs)
    return jnp.sort(x, axis=int(axis))


@lowers(ArgSortOp, concrete=positions_with_axis(ArgSortOp))
def positions_in_order(op, node, inputs, context):
    """The positions of the elements in ascending order; equal ones keep theirs."""
    import jax.numpy as jnp

    axis, (x,) = axis_apart(node, inputs)
    return jnp.argsort(x, axis=int(axis), stable=True)
