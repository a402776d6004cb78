"""Sums, products, extremes and the like along dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.scalar import basic as sb
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax, Max, Min, MulWithoutZeros

from theano.link.xla.lowering.table import lowers

# Elements of a sum that is worth its halves, and up to which it is, as measured
LEAST_HALVED, MOST_HALVED = 1 << 13, 1 << 16


def _without_zeros(x: Any, axis: Any) -> Any:
    import jax.numpy as jnp

    zero = x == 0
    product = jnp.prod(jnp.where(zero, 1, x), axis)
    return jnp.where(jnp.all(zero, axis), 0, product) if x.size else product


def _reducer(name: str) -> Any:
    def reduce(x: object, axis: object) -> Any:
        import jax.numpy as jnp

        return getattr(jnp, name)(x, axis)

    return reduce


def _bitwise(name: str, logical: str) -> Any:
    def reduce(x: Any, axis: object) -> Any:
        import jax.numpy as jnp

        return getattr(jnp, logical if x.dtype == bool else name).reduce(x, axis)

    return reduce


_REDUCERS: dict[type[sb.ScalarOp], Any] = {
    sb.Add: _reducer("sum"),
    sb.Mul: _reducer("prod"),
    sb.Maximum: _reducer("max"),
    sb.Minimum: _reducer("min"),
    sb.AND: _bitwise("bitwise_and", "logical_and"),
    sb.OR: _bitwise("bitwise_or", "logical_or"),
    sb.XOR: _bitwise("bitwise_xor", "logical_xor"),
    MulWithoutZeros: _without_zeros,
}


def _why_not(node) -> str | None:
    op = node.op.scalar_op
    return None if type(op) in _REDUCERS else f"there is no lowering for a reduction by {op}"


# in PyTensor 3.3 the maximum and minimum define again what they compute
@lowers(CAReduce, Max, Min, why_not=_why_not)
def reduced(op, node, inputs, context):
    """Return an operation on numbers applied along dimensions, in the dtype of the accumulator."""
    (x,) = inputs
    axis = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    if isinstance(op.scalar_op, sb.Maximum | sb.Minimum) and 0 in [x.shape[k] for k in axis]:
        raise ValueError(f"{op}: expected elements to choose from, got shape {x.shape}")
    dtype = getattr(op, "acc_dtype", None) or node.outputs[0].type.dtype
    if isinstance(op.scalar_op, sb.Add) and x.dtype != dtype and _is_for_halves(x, context):
        x = _in_halves(x, dtype, axis)
    x = x.astype(dtype)
    return _REDUCERS[type(op.scalar_op)](x, axis)


def _is_for_halves(x: Any, context: Any) -> bool:
    """Return whether a sum of what is widened first, in a step on the CPU, is neither small nor shared by threads."""
    return context.in_loop and context.platform == "cpu" and LEAST_HALVED <= x.size <= MOST_HALVED


def _in_halves(x: Any, dtype: object, axes: tuple[int, ...]) -> Any:
    """Add up an array's halves along the longest axis, and those of what is made, while there are such.

    XLA makes vectors of these additions. Numbers that are widened as they are summed it takes one by one.
    """
    from jax import lax

    if not axes:
        return x
    axis = max(axes, key=lambda k: x.shape[k])
    if x.shape[axis] % 4:
        return x
    # else each half would be computed with all that it is made from, and all halves where the sum is read
    x = lax.optimization_barrier(x).astype(dtype)
    while x.shape[axis] % 2 == 0:
        half = x.shape[axis] // 2
        below = lax.slice_in_dim(x, 0, half, axis=axis)
        x = below + lax.slice_in_dim(x, half, 2 * half, axis=axis)
    return lax.optimization_barrier(x)


@lowers(Argmax)
def position_of_maximum(op, node, inputs, context):
    """Return the position of the greatest element, among those of some dimensions as one."""
    import jax.numpy as jnp

    (x,) = inputs
    axes = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    others = [k for k in range(x.ndim) if k not in axes]
    if 0 in [x.shape[k] for k in axes]:
        raise ValueError(f"{op}: expected elements to choose from, got shape {x.shape}")
    lengths = [x.shape[k] for k in others]
    together = int(np.prod([x.shape[k] for k in axes], dtype="int64"))
    return jnp.argmax(jnp.transpose(x, [*others, *axes]).reshape([*lengths, together]), -1)


@lowers(CumOp)
def accumulated(op, node, inputs, context):
    """All partial sums or products."""
    import jax.numpy as jnp

    function = jnp.cumsum if op.mode == "add" else jnp.cumprod
    x = inputs[0].astype(node.outputs[0].type.dtype)
    return function(x.reshape(-1), 0) if op.axis is None else function(x, op.axis)
