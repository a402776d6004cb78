"""Positions in arrays: as one number or one for each dimension, in sorted vectors, on diagonals."""

from __future__ import annotations

import math
from typing import Any

from pytensor.tensor.extra_ops import (
    FillDiagonal,
    FillDiagonalOffset,
    RavelMultiIndex,
    SearchsortedOp,
    UnravelIndex,
)

from theano.link.xla.lowering.table import lowers


@lowers(FillDiagonal)
def with_diagonal(op, node, inputs, context):
    """Return the array with a number wherever all indices are equal."""
    import jax.numpy as jnp

    x, value = inputs
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ValueError(f"FillDiagonal: expected dimensions of one length, got {x.shape}")
    along = jnp.arange(min(x.shape))
    return jnp.asarray(x).at[(along,) * x.ndim].set(value)


@lowers(FillDiagonalOffset)
def with_a_diagonal(op, node, inputs, context):
    """Return the matrix with a number on the diagonal so many columns to the right."""
    import jax.numpy as jnp

    x, value, offset = inputs
    rows, columns = jnp.arange(x.shape[0])[:, None], jnp.arange(x.shape[1])
    return jnp.where(columns - rows == offset, value, x)


@lowers(RavelMultiIndex, concrete=lambda node: (len(node.inputs) - 1,))
def one_number(op, node, inputs, context):
    """Return the positions as numbers of elements."""
    import jax.numpy as jnp

    *indices, lengths = inputs
    lengths = [int(length) for length in lengths]
    found: Any = 0
    steps = _steps(lengths, op.order)
    for index, length, step in zip(indices, lengths, steps, strict=True):
        index = jnp.asarray(index, "int64")
        if op.mode == "raise":
            inside = ((index >= 0) & (index < length)).all()
            context.require(inside, ValueError("invalid entry in coordinates array"))
        index = index % length if op.mode == "wrap" else jnp.clip(index, 0, length - 1)
        found = found + index * step
    return found


@lowers(UnravelIndex, concrete=(1,))
def one_for_each_dimension(op, node, inputs, context):
    """Numbers of elements as positions in each dimension."""
    import jax.numpy as jnp

    numbers, lengths = jnp.asarray(inputs[0], "int64"), [int(length) for length in inputs[1]]
    size = math.prod(lengths)
    inside = ((numbers >= 0) & (numbers < size)).all()
    context.require(inside, ValueError(f"an index is out of bounds for array with size {size}"))
    steps = _steps(lengths, op.order)
    return [numbers // step % length for length, step in zip(lengths, steps, strict=True)]


def _steps(lengths: list[int], order: str) -> list[int]:
    """By how many elements each dimension's neighbours lie apart."""
    if order == "F":
        return [math.prod(lengths[:k]) for k in range(len(lengths))]
    return [math.prod(lengths[k + 1 :]) for k in range(len(lengths))]


@lowers(SearchsortedOp)
def places_in_order(op, node, inputs, context):
    """Return where values would go in a vector that is in order, or becomes so by a permutation."""
    import jax.numpy as jnp

    x, values, *permutation = inputs
    ordered = jnp.asarray(x)[permutation[0]] if permutation else jnp.asarray(x)
    dtype = jnp.promote_types(ordered.dtype, values.dtype)
    return jnp.searchsorted(ordered.astype(dtype), values.astype(dtype), side=op.side)
