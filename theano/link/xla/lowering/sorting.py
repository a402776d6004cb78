"""Sorted elements and their positions."""

from __future__ import annotations

import numpy as np
from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.xla.lowering.table import lowers
from theano.pytensor_internals.operations.axes import axis_apart, positions_with_axis
from theano.tensor.largest_elements import TopKOp, check_count


@lowers(SortOp, concrete=positions_with_axis(SortOp))
def in_order(op, node, inputs, context):
    """Return the elements in ascending order along a dimension, NaN last."""
    import jax.numpy as jnp

    axis, (x,) = axis_apart(node, inputs)
    return jnp.sort(x, axis=int(axis))


@lowers(ArgSortOp, concrete=positions_with_axis(ArgSortOp))
def positions_in_order(op, node, inputs, context):
    """Return the positions of the elements in ascending order; equal ones keep theirs."""
    import jax.numpy as jnp

    axis, (x,) = axis_apart(node, inputs)
    return jnp.argsort(x, axis=int(axis), stable=True)


@lowers(TopKOp, concrete=(1,))
def largest(op, node, inputs, context):
    """Return the largest elements along a dimension, or the smallest, in descending order; their positions."""
    import jax.numpy as jnp

    x, count, axis = inputs[0], int(inputs[1]), op.axis
    length = x.shape[axis]
    check_count(count, length, axis)
    chosen = range(length - count, length) if count > 0 else range(-count)
    ascending = jnp.argsort(x, axis=axis, stable=True)
    positions = jnp.take(ascending, np.array(chosen)[::-1], axis=axis)
    values = [jnp.take_along_axis(x, positions, axis)] if op.return_values else []
    return [*values, positions] if op.return_indices else values
