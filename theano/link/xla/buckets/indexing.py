"""Numbers and slices as indices, of padded arrays and with bounds that vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import Split
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.link.xla.buckets.numbers import Varying, each_of
from theano.link.xla.buckets.padding import CannotBucket, Padded, rows_below
from theano.link.xla.buckets.trace import pads, shape_each
from theano.link.xla.context import is_traced
from theano.link.xla.lowering.indexing import read, region
from theano.link.xla.windows import SetWindow, SliceBounds, Window
from theano.pytensor_internals.operations.axes import axis_apart
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Selection:
    """The part of a dimension that an index selects, for each combination of lengths.

    Attributes
    ----------
    starts
        The first position: numbers, or one traced.
    counts
        How many elements.
    step
        From one to the next.
    is_slice
        Whether the dimension stays.
    """

    starts: Any
    counts: np.ndarray
    step: int
    is_slice: bool

    @property
    def starts_at_same(self) -> bool:
        """Return whether the first position is the same for all lengths."""
        return not is_traced(self.starts) and not np.ptp(self.starts)


def selection(index: object, lengths: np.ndarray, trace: object) -> Selection:
    """Return what an index selects of a dimension of these lengths."""
    cases = len(lengths)
    if not isinstance(index, slice):
        return Selection(_positions(index, lengths, trace), np.ones(cases, int), 1, False)
    if any(is_traced(part) for part in (index.start, index.stop, index.step)):
        raise CannotBucket("the device computes a bound of the slice")
    parts = [
        np.full(cases, None) if part is None else each_of(part, cases).astype(int).astype(object)
        for part in (index.start, index.stop, index.step)
    ]
    bounds = [
        slice(*given).indices(int(n))
        for given, n in zip(zip(*parts, strict=True), lengths, strict=True)
    ]
    starts, _, steps = np.array(bounds).T
    if np.ptp(steps):
        raise CannotBucket("the step of the slice varies")
    counts = np.array([len(range(*bound)) for bound in bounds])
    return Selection(starts, counts, int(steps[0]), True)


def _positions(index: Any, lengths: np.ndarray, trace: Any) -> Any:
    import jax.numpy as jnp

    if is_traced(index):
        n = trace.number(lengths)
        index = index.astype("int64")
        trace.context.require(
            (index >= -n) & (index < n), IndexError("index out of bounds of a loop's rows")
        )
        return jnp.where(index < 0, index + n, index)
    each = each_of(index, len(lengths)).astype(int)
    if ((each < -lengths) | (each >= lengths)).any():
        raise CannotBucket("an index is out of bounds for some length")
    return np.where(each < 0, each + lengths, each)


def select(x: object, axis: int, chosen: Selection, trace: Any) -> Any:
    """Return the elements of one dimension, which stays; of those that vary in number, the most."""
    import jax.numpy as jnp
    from jax import lax

    x, count = jnp.asarray(x), int(chosen.counts.max())
    start = chosen.starts if is_traced(chosen.starts) else trace.number(chosen.starts)
    if chosen.starts_at_same and chosen.step > 0:
        first = int(chosen.starts[0])
        return lax.slice_in_dim(x, first, first + (count - 1) * chosen.step + 1, chosen.step, axis)
    if abs(chosen.step) == 1:
        # behind the array, so that the piece is never moved to fit in
        room = [(0, count if k == axis else 0) for k in range(x.ndim)]
        start = start if chosen.step > 0 else x.shape[axis] - 1 - start
        x = jnp.pad(x if chosen.step > 0 else lax.rev(x, (axis,)), room)
        return lax.dynamic_slice_in_dim(x, start, count, axis)
    return jnp.take(x, start + chosen.step * jnp.arange(count), axis, mode="clip")


def _entries(idx_list: Any, numbers: Sequence[Any], ndim: int) -> list[Any]:
    given = list(indices_from_subtensor(numbers, idx_list))
    return given + [slice(None)] * (ndim - len(given))


def _is_whole(index: object) -> bool:
    return isinstance(index, slice) and index.start is index.stop is index.step is None


def _varies(index: object) -> bool:
    parts = (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)
    return any(isinstance(part, Varying) for part in parts)


@pads(Subtensor)
def taken(op, node, inputs, trace):
    """Return the dimensions that are padded, or whose index varies, are indexed first."""
    x, *numbers = inputs
    if isinstance(x, Varying):
        x = trace.data(x)
    shape = shape_each(x, trace.cases)
    value, axis, lengths = (
        (x.value, x.axis, x.lengths) if isinstance(x, Padded) else (x, None, None)
    )
    entries = _entries(op.idx_list, numbers, np.ndim(value))
    for k, index in enumerate(entries):
        if (k != axis and not _varies(index)) or _is_whole(index):
            continue
        chosen = selection(index, shape[:, k], trace)
        if not chosen.counts.max():
            raise CannotBucket("it takes no rows")
        value = select(value, k, chosen, trace)
        entries[k] = slice(None) if chosen.is_slice else 0
        if np.ptp(chosen.counts):
            if axis not in (None, k):
                raise CannotBucket("two dimensions of its result would be padded")
            axis, lengths = k, chosen.counts
        elif k == axis:
            axis = None
    value = read(value, region(np.shape(value), entries, trace.context))
    if axis is None:
        return value
    return Padded(value, sum(isinstance(entry, slice) for entry in entries[:axis]), lengths)


@pads(IncSubtensor)
def written(op, node, inputs, trace):
    """Rows are written; padding is not, where rows may be."""
    x, y, *numbers = inputs
    x, y = trace.data(x), trace.data(y)
    shape = shape_each(x, trace.cases)
    ndim = shape.shape[1]
    entries = _entries(op.idx_list, numbers, ndim)
    axis = x.axis if isinstance(x, Padded) else None
    chosen = [
        k
        for k, index in enumerate(entries)
        if not _is_whole(index) and (k == axis or _varies(index))
    ]
    if not chosen:
        return _written_alongside(op, node, [x, y, *numbers], entries, trace)
    if len(chosen) > 1 or not all(_is_whole(e) for k, e in enumerate(entries) if k != chosen[0]):
        raise CannotBucket("it writes to a part of several dimensions")
    (where,) = chosen
    place = selection(entries[where], shape[:, where], trace)
    return _written(op.set_instead_of_inc, node, x, y, where, place, trace)


@pads(SliceBounds)
def bounds(op, node, inputs, trace):
    """Bounds of which the device computes one."""
    return trace.lower(node, [trace.data(x) for x in inputs])


@pads(Window)
def window(op, node, inputs, trace):
    """So many rows from a position on, where the number varies."""
    x, first, length = inputs
    if isinstance(x, Padded) and x.axis != op.axis:
        raise CannotBucket("two dimensions of its result would be padded")
    counts = each_of(length, trace.cases).astype(int)
    chosen = Selection(_starts(first, trace), counts, 1, True)
    value = select(x.value if isinstance(x, Padded) else x, op.axis, chosen, trace)
    return Padded(value, op.axis, counts) if np.ptp(counts) else value


@pads(SetWindow)
def window_written(op, node, inputs, trace):
    """Rows are written from a position on."""
    x, new, first = inputs
    counts = shape_each(new, trace.cases)[:, op.axis]
    chosen = Selection(_starts(first, trace), counts, 1, True)
    return _written(True, node, x, new, op.axis, chosen, trace)


@pads(Split)
def split(op, node, inputs, trace):
    """Each part is so many rows from where the one before ends."""
    axis, (x, sizes) = axis_apart(node, inputs)
    if isinstance(x, Varying) or is_traced(axis) or isinstance(axis, Varying) or is_traced(sizes):
        raise CannotBucket("its dimension varies")
    axis = int(axis) % node.inputs[0].type.ndim
    counts = each_of(sizes, trace.cases).astype(int)
    ends = np.cumsum(counts, axis=1)
    if isinstance(x, Padded) and x.axis != axis and not np.ptp(counts, axis=0).any():
        return [x.with_value(part) for part in trace.lower(node, inputs)]
    if (ends[:, -1] != shape_each(x, trace.cases)[:, axis]).any() or (
        isinstance(x, Padded) and x.axis != axis
    ):
        raise CannotBucket("its parts vary in another way than what it splits")
    parts = []
    for k in range(counts.shape[1]):
        chosen = Selection(ends[:, k] - counts[:, k], counts[:, k], 1, True)
        part = select(x.value if isinstance(x, Padded) else x, axis, chosen, trace)
        parts.append(Padded(part, axis, counts[:, k]) if np.ptp(counts[:, k]) else part)
    return parts


def _starts(first: object, trace: Any) -> Any:
    return first if is_traced(first) else each_of(first, trace.cases).astype(int)


def _written(
    is_set: bool, node: Apply, x: object, y: object, axis: int, place: Selection, trace: object
) -> Any:
    """Return the array, padded or not, with rows written to one dimension."""
    if isinstance(x, Padded) and x.axis != axis:
        raise CannotBucket("it writes outside of the padded dimension")
    value = x.value if isinstance(x, Padded) else x
    value = _with_rows(is_set, value, y, axis, place, node.outputs[0].type.dtype, trace)
    return x.with_value(value) if isinstance(x, Padded) else value


def _written_alongside(
    op: Op, node: Apply, inputs: list[Any], entries: list[Any], trace: Any
) -> Any:
    """Written where the padded dimension is as a whole: its padding gets padding."""
    x, y = inputs[:2]
    if not isinstance(x, Padded):
        raise CannotBucket("it writes padded rows to an array without padding")
    (value,) = trace.lower(node, inputs)
    if isinstance(y, Padded):
        kept = sum(isinstance(e, slice) for e in entries)
        place = sum(isinstance(e, slice) for e in entries[: x.axis])
        if y.axis + kept - y.ndim != place or (y.lengths != x.lengths).any():
            raise CannotBucket("what it writes is padded in another way")
    elif np.ndim(y) and not _is_one_row(y, entries, x.axis):
        raise CannotBucket("it writes an array without padding to padded rows")
    return x.with_value(value)


def _is_one_row(y: Any, entries: list[Any], axis: int) -> bool:
    """Return whether what is written has no separate rows for the padded dimension."""
    behind = sum(isinstance(e, slice) for e in entries[axis:])
    return np.ndim(y) < behind or np.shape(y)[np.ndim(y) - behind] == 1


def _with_rows(
    is_set: bool, x: Any, y: object, axis: int, place: Selection, dtype: str, trace: Any
) -> Any:
    """Write rows; as far as their number varies, those that there are."""
    import jax.numpy as jnp
    from jax import lax

    count = int(place.counts.max())
    shape = list(np.shape(x))
    shape[axis] = count
    x, new = jnp.asarray(x, dtype), jnp.asarray(y.value if isinstance(y, Padded) else y, dtype)
    if not place.is_slice:
        if isinstance(y, Padded):
            raise CannotBucket("it writes padded rows in place of one")
        behind = x.ndim - 1 - axis
        new = jnp.expand_dims(new, new.ndim - behind) if new.ndim > behind else new
    elif isinstance(y, Padded):
        if y.axis + x.ndim - y.ndim != axis or (y.lengths != place.counts).any():
            raise CannotBucket("what it writes is padded in another way")
    elif np.ptp(place.counts) and new.ndim >= x.ndim - axis and new.shape[axis - x.ndim] != 1:
        raise CannotBucket("it writes an array without padding to padded rows")
    new = jnp.broadcast_to(new, shape)
    written = rows_below(trace.number(place.counts), shape, axis)
    if place.starts_at_same and place.step == 1:
        first = int(place.starts[0])
        old = lax.slice_in_dim(x, first, first + count, axis=axis)
        new = new if is_set else old + new
        return lax.dynamic_update_slice_in_dim(x, jnp.where(written, new, old), first, axis)
    start = place.starts if is_traced(place.starts) else trace.number(place.starts)
    rows = start + place.step * jnp.arange(count)
    # what is out of range is not written
    rows = jnp.where(jnp.arange(count) < trace.number(place.counts), rows, shape[axis] + x.size)
    at = x.at[(slice(None),) * axis + (rows,)]
    change = at.set if is_set else at.add
    return change(new, mode="drop", wrap_negative_indices=False)
