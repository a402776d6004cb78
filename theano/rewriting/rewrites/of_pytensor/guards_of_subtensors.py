"""When PyTensor's rewrites of reads and writes of parts of arrays are right."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import upcast
from pytensor.tensor.basic import Alloc, ARange
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor, Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.axes import axis_apart
from theano.pytensor_internals.operations.tensor import unflatten_index_variables
from theano.pytensor_internals.operations.tensor_rewrites import is_length_of
from theano.rewriting.rewrites.of_pytensor.guards import same_length

_WRITES = (IncSubtensor, AdvancedIncSubtensor)


def _indices(node: Apply) -> list[Any]:
    """Return the index of a read, an element for each axis that it names."""
    op: Any = node.op
    return list(unflatten_index_variables(node.inputs[1:], op.idx_list))


def known_indices_are_wide(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether arithmetic on the numbers in an index is not that of few bits, which overflows."""
    return all(v.type.dtype == "int64" for v in node.inputs[1:] if is_a(v, Constant))


def places_exist(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the repeated places that a read names by number are known to be there.

    Along other axes what is repeated is read at the same places, which asks.
    """
    source: Any = node.inputs[0]
    if source.owner is None or not is_a(source.owner.op, Alloc):
        return True
    value: Any = source.owner.inputs[0]
    added = source.type.ndim - value.type.ndim
    repeated = [True] * added + list(value.type.broadcastable)
    return all(
        isinstance(index, slice) or not again or _is_known_within(index, length)
        for again, length, index in zip(repeated, source.type.shape, _indices(node), strict=False)
    )


def _is_known_within(index: object, length: int | None) -> bool:
    """Return whether an index is a constant whose places an axis is known to have."""
    if not is_a(index, Constant) or length is None:
        return False
    places = np.asarray(index.data)
    return places.dtype.kind not in "iu" or not places.size or _within(places, length)


def every_place_is_there(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the places that a read names are known to be there, counted from the start."""
    source: Any = node.inputs[0]
    return all(
        isinstance(index, slice)
        or _counts_the_rows(graph, index, source, axis)
        or (_is_known_within(index, source.type.shape[axis]) and _is_of_counts(index.data))
        for axis, index in enumerate(_indices(node))
    )


def _is_of_counts(places: object) -> bool:
    data = np.asarray(places)
    return data.dtype.kind in "iu" and bool((data >= 0).all())


def _counts_the_rows(graph: FunctionGraph, index: Any, array: Any, axis: int) -> bool:
    """Return whether an index is ``arange`` of the length of an axis."""
    if index.owner is None or not isinstance(index.owner.op, ARange):
        return False
    start, stop, step = index.owner.inputs
    if not all(is_a(v, Constant) for v in (start, step)) or (start.data, step.data) != (0, 1):
        return False
    shapes = getattr(graph, "shape_feature", None)
    return bool(is_length_of(stop, array, axis, shape_feature=shapes))


def _within(places: np.ndarray, length: int) -> bool:
    return bool(-length <= places.min() and places.max() < length)


def places_in_axes_of_length_one_exist(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether places are there in axes of which no operand is read at the place.

    An operand that is as long as the result is read there, which asks.
    """
    source: Any = node.inputs[0]
    owner = source.owner
    if owner is None:
        return True
    if is_a(owner.op, DimShuffle):
        dropped = [axis == "x" for axis in owner.op.new_order]
    elif is_a(owner.op, Elemwise) or is_a(owner.op, Blockwise):
        batch = source.type.ndim if is_a(owner.op, Elemwise) else owner.op.batch_ndim(owner)
        dropped = [all(v.type.broadcastable[k] for v in owner.inputs) for k in range(batch)]
    else:
        return True
    return all(
        isinstance(index, slice) or not one or _is_known_within(index, 1)
        for one, index in zip(dropped, _indices(node), strict=False)
    )


def joined_slices_begin_before_they_end(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether no slice that is joined with its neighbour has its end before its start.

    ``join(0, x[a:b], x[b:c])`` is ``x[a:c]`` only where ``a <= b <= c``.
    """
    given, joined = axis_apart(node, node.inputs)
    if isinstance(given, Variable) and not is_a(given, Constant):
        return False
    axis = int(given.data) if is_a(given, Constant) else given
    parts = [v.owner if _is_read(v) else None for v in joined]
    alongside = [
        each
        for one, other in pairwise(parts)
        if one is not None and other is not None and one.inputs[0] is other.inputs[0]
        for each in (one, other)
    ]
    return all(_begins_before_it_ends(part, axis) for part in alongside)


def _is_read(variable: Variable) -> bool:
    return variable.owner is not None and is_a(variable.owner.op, Subtensor)


def _begins_before_it_ends(part: Apply, axis: int) -> bool:
    indices = _indices(part)
    if axis >= len(indices) or not isinstance(indices[axis], slice):
        return True
    index = indices[axis]
    start, stop = (int(v.data) if is_a(v, Constant) else v for v in (index.start, index.stop))
    if start in (None, 0) or stop is None:
        return True
    if not isinstance(start, int) or not isinstance(stop, int):
        return False
    length = part.inputs[0].type.shape[axis]  # type: ignore[attr-defined]
    if length is not None:
        first, end, _ = slice(start, stop).indices(length)
        return first <= end
    return start <= stop and (start < 0) == (stop < 0)


def stops_are_signed(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the bounds of slices are of types that PyTensor's rewrite expects."""
    return not any(
        isinstance(index, slice)
        and isinstance(index.stop, Variable)
        and not is_a(index.stop, Constant)
        and index.stop.type.dtype.startswith("uint")
        for index in _indices(node)
    )


def writes_where_there_are_places(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a write names slices, which are never out of range, or places that are there."""
    op: Any = node.op
    written = getattr(op, "idx_list", None)
    if written is None:
        return False
    lengths = node.inputs[0].type.shape  # type: ignore[attr-defined]
    indices = unflatten_index_variables(node.inputs[2:], written)
    return all(
        isinstance(index, slice) or (_is_known_within(index, length) and index.type.dtype != "bool")
        for index, length in zip(indices, lengths, strict=False)
    )


def writes_that_add_up(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether what is written and what was written before add up, in the array's dtype.

    What is set takes the place of what was written, which is not added to it. Where others read the
    array that was written before, it is made all the same: of a chain of n such arrays, the last would
    have a sum of n increments.
    """
    if node.op.set_instead_of_inc:  # type: ignore[attr-defined]
        return True
    if len(graph.clients[node.inputs[0]]) > 1:
        return False
    before = node.inputs[0].owner
    values = [node.inputs[1], *(before.inputs[1:2] if before is not None else ())]
    dtypes = [v.type.dtype for v in values if hasattr(v.type, "dtype")]
    return bool(upcast(*dtypes) == node.outputs[0].type.dtype)


def whole_writes_fit(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether values written to all places are known to be as many; others are not looked at.

    PyTensor makes an array of so many first, and asks afterwards.
    """
    whole = all(
        isinstance(index, slice) and index.start is None and index.stop is None
        for index in unflatten_index_variables(node.inputs[2:], node.op.idx_list)  # type: ignore[attr-defined]
    )
    return not whole or _as_many(graph, node)


def what_is_written_fits(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Return whether values written to all places, where they become the result, are known to be as many.

    Else nobody asks any more whether they fit.
    """
    if not isinstance(node.op, _WRITES) or isinstance(made[0].owner_op, _WRITES):
        return True
    return _as_many(graph, node)


def _as_many(graph: FunctionGraph, node: Apply) -> bool:
    array: Any
    values: Any
    array, values = node.inputs[:2]
    if array.type.broadcastable != values.type.broadcastable:
        # they are broadcast, which asks
        return True
    shapes = getattr(graph, "shape_feature", None)
    return all(same_length(shapes, array, k, values, k) for k in range(array.type.ndim))
