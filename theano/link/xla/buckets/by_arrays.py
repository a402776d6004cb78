"""Arrays of integers as indices, padded or of padded arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.op import Op
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.link.xla.buckets.numbers import Varying
from theano.link.xla.buckets.padding import CannotBucket, Padded, rows_below, same_lengths
from theano.link.xla.buckets.trace import pads
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1, AdvancedSubtensor1


def _checked(x: object, indices: list[Any], trace: Any) -> tuple[list[Any], Padded | None]:
    """Return indices of the first dimensions, with zeros as padding; and one that is padded.

    They must be arrays of one shape, or numbers.
    """
    if any(isinstance(index, Varying) for index in indices):
        raise CannotBucket("an index varies")
    parts = [index for index in indices if isinstance(index, Padded)]
    if parts:
        same_lengths(parts)
        if any(part.shape != parts[0].shape or part.axis != parts[0].axis for part in parts):
            raise CannotBucket("its indices have different shapes")
        if any(np.ndim(index) for index in indices if not isinstance(index, Padded)):
            raise CannotBucket("only some of its indices are padded")
    if isinstance(x, Padded) and x.axis < len(indices):
        indices = list(indices)
        indices[x.axis] = _in_rows(indices[x.axis], x.lengths, trace)
    filled = [trace.filled(index, 0) if isinstance(index, Padded) else index for index in indices]
    return filled, parts[0] if parts else None


def _in_rows(index: object, lengths: np.ndarray, trace: Any) -> Any:
    """Positions that count from the start, after a check that they are of rows, not of padding."""
    import jax.numpy as jnp

    n = trace.number(lengths)
    value = jnp.asarray(index.value if isinstance(index, Padded) else index).astype("int64")
    right = (value >= -n) & (value < n)
    if isinstance(index, Padded):
        right = right | ~rows_below(trace.number(index.lengths), index.shape, index.axis)
    trace.context.require(jnp.all(right), IndexError("index out of bounds of a loop's rows"))
    value = jnp.where(value < 0, value + n, value)
    return index.with_value(value) if isinstance(index, Padded) else value


def _are_numbers(op: Op) -> None:
    if any(not isinstance(entry, int | np.integer) for entry in getattr(op, "idx_list", ())):
        raise CannotBucket("it has slices besides indices that are arrays")


@pads(AdvancedSubtensor1, AdvancedSubtensor)
def elements(op, node, inputs, trace):
    """Read the first element for the padding of a padded index."""
    _are_numbers(op)
    x, *given = inputs
    x = trace.data(x)
    _no_masks(node.inputs[1:])
    indices, part = _checked(x, given, trace)
    (value,) = trace.lower(node, [x, *indices])
    if part is not None:
        if isinstance(x, Padded) and x.axis >= len(indices):
            raise CannotBucket("two dimensions of its result would be padded")
        return part.with_value(value)
    if x.axis < len(indices):
        return value
    count = max(np.ndim(index) for index in indices)
    return x.with_value(value, x.axis - len(indices) + count)


@pads(AdvancedIncSubtensor1, AdvancedIncSubtensor)
def elements_written(op, node, inputs, trace):
    """For padding, zero is added to the first element."""
    import jax.numpy as jnp

    _are_numbers(op)
    x, y, *given = inputs
    x = trace.data(x)
    _no_masks(node.inputs[2:])
    indices, part = _checked(x, given, trace)
    if op.set_instead_of_inc or getattr(op, "ignore_duplicates", False) or part is None:
        raise CannotBucket("it sets elements")
    rest = _shape(x)[len(indices) :]
    shape = (*part.shape, *rest)
    if isinstance(x, Padded) and x.axis >= len(indices):
        raise CannotBucket("two dimensions of its result would be padded")
    y = trace.data(y)
    if isinstance(y, Padded):
        if y.axis + len(shape) - y.ndim != part.axis or (y.lengths != part.lengths).any():
            raise CannotBucket("what it adds is padded in another way")
        y = y.value
    elif np.ndim(y) >= len(shape) - part.axis and np.shape(y)[part.axis - len(shape)] != 1:
        raise CannotBucket("it adds an array without padding to padded rows")
    added = Padded(jnp.broadcast_to(jnp.asarray(y), shape), part.axis, part.lengths)
    (value,) = trace.lower(node, [x, trace.filled(added, 0), *indices])
    return x.with_value(value) if isinstance(x, Padded) else value


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, Padded) else np.shape(x)


def _no_masks(variables: Any) -> None:
    if any(getattr(v.type, "dtype", None) == "bool" for v in variables):
        raise CannotBucket("a mask is an index")
