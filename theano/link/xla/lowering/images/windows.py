"""Windows: parts of arrays of a static length at a position that may be computed."""

from __future__ import annotations

from theano.link.xla.lowering.table import lowers
from theano.link.xla.windows import SetWindow, SliceBounds, Window


@lowers(SliceBounds)
def bounds(op, node, inputs, context):
    """Return the first position and the number of elements, as Python's slices count."""
    import jax.numpy as jnp

    start, stop, n = op.bounds(inputs)

    def counted_from_start(bound):
        return jnp.clip(jnp.where(bound < 0, bound + n, bound), 0, n)

    first = jnp.asarray(0) if start is None else counted_from_start(jnp.asarray(start, "int64"))
    last = n if stop is None else counted_from_start(jnp.asarray(stop, "int64"))
    return [first, jnp.maximum(last - first, 0)]


@lowers(Window, concrete=(2,))
def read(op, node, inputs, context):
    """Return the elements from a position on."""
    import jax.numpy as jnp
    from jax import lax

    x, first, length = inputs
    return lax.dynamic_slice_in_dim(jnp.asarray(x), first, int(length), op.axis)


@lowers(SetWindow)
def write(op, node, inputs, context):
    """Return the array with other elements from a position on."""
    import jax.numpy as jnp
    from jax import lax

    x, window, first = inputs
    dtype = node.outputs[0].type.dtype
    x, window = jnp.asarray(x, dtype=dtype), jnp.asarray(window, dtype=dtype)
    return lax.dynamic_update_slice_in_dim(x, window, first, op.axis)
