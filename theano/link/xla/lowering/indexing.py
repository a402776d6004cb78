"""Basic indexing: numbers and slices, of which numbers may be computed on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.link.xla.context import CannotLower, Context, is_traced
from theano.link.xla.lowering.table import lowers
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.rewriting.zeros import is_zero
from theano.support.data_classes import dataclass

# In a loop's step an array is sooner rebuilt than written into, if so great a part is added to.
GREAT_PART = 4


@dataclass(frozen=True)
class Region:
    """A box of an array: along each dimension where it starts, its length and its step.

    Attributes
    ----------
    starts
        Concrete or traced.
    steps
        Negative where the elements come in the other order.
    dropped
        Dimensions that were indexed by a number.
    """

    starts: tuple[Any, ...]
    lengths: tuple[int, ...]
    steps: tuple[int, ...]
    dropped: tuple[int, ...]

    @property
    def is_static(self) -> bool:
        return not any(is_traced(start) for start in self.starts)


def slice_bounds(node) -> list[int]:
    """Positions of the inputs that are bounds or steps of slices: they decide lengths."""
    first = len(node.inputs) - len(_flat_entries(node.op.idx_list))
    of_slice = [in_slice for entry in node.op.idx_list for in_slice in _positions_in_entry(entry)]
    return [first + k for k, in_slice in enumerate(of_slice) if in_slice]


def _flat_entries(idx_list: Sequence[Any]) -> list[bool]:
    return [in_slice for entry in idx_list for in_slice in _positions_in_entry(entry)]


def _positions_in_entry(entry: object) -> list[bool]:
    if isinstance(entry, slice):
        return [True for part in (entry.start, entry.stop, entry.step) if part is not None]
    return [False]


def region(shape: Sequence[int], indices: Sequence[Any], context: Context) -> Region:
    """Return what numbers and slices select of an array of this shape."""
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for an array of {len(shape)} dimensions: {indices}")
    starts, lengths, steps, dropped = [], [], [], []
    for axis, n in enumerate(shape):
        index = indices[axis] if axis < len(indices) else slice(None)
        if isinstance(index, slice):
            start, stop, step = _bounds(index).indices(n)
            starts.append(start)
            lengths.append(len(range(start, stop, step)))
            steps.append(step)
            continue
        starts.append(position(index, n, axis, context))
        lengths.append(1)
        steps.append(1)
        dropped.append(axis)
    return Region(tuple(starts), tuple(lengths), tuple(steps), tuple(dropped))


def _bounds(index: slice) -> slice:
    parts = (index.start, index.stop, index.step)
    if any(is_traced(part) for part in parts):
        raise CannotLower("a slice whose length is computed on the device")
    return slice(*(None if part is None else int(part) for part in parts))


def position(index: Any, n: int, axis: int, context: Context) -> Any:
    """Return a number that counts from the start, after a check that there is such an element."""
    import jax.numpy as jnp

    error = IndexError(f"index out of bounds: dimension {axis} has length {n}")
    if not is_traced(index):
        if not -n <= int(index) < n:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
        return int(index) % n
    if not n:
        raise error
    index = index.astype("int64")
    if index.ndim:
        raise CannotLower("an index that is no number")
    context.require((index >= -n) & (index < n), error)
    return jnp.where(index < 0, index + n, index)


def read(x: object, where: Region) -> Any:
    """Return the elements of a region, without the dimensions that were indexed by a number."""
    import jax.numpy as jnp
    from jax import lax

    x = jnp.asarray(x)
    if any(is_traced(start) for start in where.starts):
        # first the box that holds the static parts in full, then the dynamic starts
        dynamic = [is_traced(start) for start in where.starts]
        starts = [s if d else 0 for s, d in zip(where.starts, dynamic, strict=True)]
        sizes = [1 if d else n for n, d in zip(x.shape, dynamic, strict=True)]
        x = lax.dynamic_slice(x, starts, sizes, allow_negative_indices=False)
        where = Region(
            tuple(0 if d else s for s, d in zip(where.starts, dynamic, strict=True)),
            where.lengths,
            where.steps,
            where.dropped,
        )
    parts = [*map(_ascending, where.starts, where.lengths, where.steps)]
    if parts != [(0, n, 1) for n in x.shape]:
        lows, highs, strides = zip(*parts, strict=True)
        x = lax.slice(x, lows, highs, strides)
    turned = [axis for axis, step in enumerate(where.steps) if step < 0]
    if turned:
        x = lax.rev(x, turned)
    if where.dropped:
        x = x.reshape([n for axis, n in enumerate(x.shape) if axis not in where.dropped])
    return x


def _ascending(start: int, length: int, step: int) -> tuple[int, int, int]:
    """First, one after the last, and step of the same elements from low to high."""
    if not length:
        return 0, 0, 1
    last = start + (length - 1) * step
    low, high = min(start, last), max(start, last)
    return low, high + 1, abs(step)


@lowers(Subtensor, concrete=slice_bounds)
def taken(op, node, inputs, context):
    """Return the elements at numbers and slices."""
    x, *numbers = inputs
    indices = indices_from_subtensor(numbers, op.idx_list)
    return read(x, region(np.shape(x), indices, context))


@lowers(IncSubtensor, concrete=slice_bounds)
def replaced(op, node, inputs, context):
    """Return an array in which elements are set, or added to."""
    import jax.numpy as jnp
    from jax import lax

    x, y, *numbers = inputs
    where = region(np.shape(x), indices_from_subtensor(numbers, op.idx_list), context)
    dtype = node.outputs[0].type.dtype
    x, y = jnp.asarray(x, dtype=dtype), jnp.asarray(y, dtype=dtype)
    kept = [n for axis, n in enumerate(where.lengths) if axis not in where.dropped]
    y = _broadcast(op, y, tuple(kept)).reshape(where.lengths)
    turned = [axis for axis, step in enumerate(where.steps) if step < 0]
    y = lax.rev(y, turned) if turned else y
    if where.lengths == x.shape:
        # all elements: no array is written into, and rows stay rows
        return y if op.set_instead_of_inc else x + y
    # zeros and their part are computed where they are read
    great = 0 < x.size <= y.size * GREAT_PART or is_zero(node.inputs[0])
    if context.in_loop and great and where.is_static and not op.set_instead_of_inc:
        return _with_elements(x, y, where, False)
    if not where.is_static or all(abs(s) == 1 for s in _real_steps(where)):
        starts = [
            s if is_traced(s) else _ascending(s, n, step)[0]
            for s, n, step in zip(where.starts, where.lengths, where.steps, strict=True)
        ]
        if not all(abs(s) == 1 for s in _real_steps(where)):
            raise CannotLower("a slice with steps besides an index that is computed on the device")
        if not op.set_instead_of_inc:
            y = y + lax.dynamic_slice(x, starts, where.lengths, allow_negative_indices=False)
        return lax.dynamic_update_slice(x, y, starts, allow_negative_indices=False) if y.size else x
    return _with_elements(x, y, where, op.set_instead_of_inc)


def _with_elements(x: Any, y: Any, where: Region, are_set: bool) -> Any:
    """Return an array in which a static region is set, or added to, computed element by element."""
    import jax.numpy as jnp
    from jax import lax

    if not y.size:
        return x
    parts = [*map(_ascending, where.starts, where.lengths, where.steps)]
    edges = [
        (low, n - ((length - 1) * step + low + 1), step - 1)
        for n, length, (low, _, step) in zip(x.shape, where.lengths, parts, strict=True)
    ]
    if are_set:
        inside = lax.pad(jnp.ones(y.shape, bool), np.bool_(False), edges)
        return jnp.where(inside, lax.pad(y, jnp.zeros((), y.dtype), edges), x)
    # what changes no number, negative zero either
    nothing = -jnp.zeros((), y.dtype) if y.dtype.kind in "fc" else jnp.zeros((), y.dtype)
    return x + lax.pad(y, nothing, edges)


def _real_steps(where: Region) -> list[int]:
    return [step for n, step in zip(where.lengths, where.steps, strict=True) if n > 1]


def _broadcast(op, y: Any, shape: tuple[int, ...]) -> Any:
    import jax.numpy as jnp

    own = (1,) * (len(shape) - y.ndim) + y.shape
    if y.ndim > len(shape) or any(m not in (1, n) for m, n in zip(own, shape, strict=True)):
        raise ValueError(
            f"{op}: could not broadcast a value of shape {y.shape} to the elements' shape {shape}"
        )
    return jnp.broadcast_to(y, shape)
