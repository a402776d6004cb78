"""Sorted elements and their positions."""

from __future__ import annotations

from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.xla.lowering.table import lowers


@lowers(SortOp, concrete=(1,))
def in_order(op, node, inputs, context):
    """The elements in ascending order along a dimension, NaN last."""
    import jax.numpy as jnp

    x, axis = inputs
    return jnp.sort(x, axis=int(axis))


@lowers(ArgSortOp, concrete=(1,))
def positions_in_order(op, node, inputs, context):
    """The positions of the elements in ascending order; equal ones keep theirs."""
    import jax.numpy as jnp

    x, axis = inputs
    return jnp.argsort(x, axis=int(axis), stable=True)
