"""When rewrites of PyTensor's of reads and writes of parts of arrays are right."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor, Subtensor

from theano.pytensor_base.graphs.kinds import is_a
from theano.pytensor_base.operations.axes import axis_apart
from theano.pytensor_base.operations.tensor import unflatten_index_variables
from theano.schedule.rewrites.of_pytensor.where_right import same_length

_WRITES = (IncSubtensor, AdvancedIncSubtensor)


def _indices(node: Apply) -> list[Any]:
    """The index of a read, an element for each axis that it names."""
    op: Any = node.op
    return list(unflatten_index_variables(node.inputs[1:], op.idx_list))


def known_indices_are_wide(graph: FunctionGraph, node: Apply) -> bool:
    """Whether arithmetic on the numbers in an index is not that of few bits, which overflows."""
    return all(v.type.dtype == "int64" for v in node.inputs[1:] if is_a(v, Constant))


def places_exist(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the places that a read names by number are known to be in the array."""
    source: Any = node.inputs[0]
    for length, index in zip(source.type.shape, _indices(node), strict=False):
        if isinstance(index, slice):
            continue
        data = np.asarray(index.data) if is_a(index, Constant) else None
        if data is None or length is None:
            return False
        if data.dtype.kind in "iu" and data.size and not _within(data, length):
            return False
    return True


def every_place_in_order(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the places that a read names are known to be all that there are, in order."""
    source: Any = node.inputs[0]
    return all(
        isinstance(index, slice)
        or (is_a(index, Constant) and _counts_up_to(np.asarray(index.data), length))
        for length, index in zip(source.type.shape, _indices(node), strict=False)
    )


def _counts_up_to(places: np.ndarray, length: int | None) -> bool:
    if length is None or places.dtype.kind not in "iu":
        return False
    return np.array_equal(places, np.arange(length))


def _within(places: np.ndarray, length: int) -> bool:
    return bool(-length <= places.min() and places.max() < length)


def places_in_axes_of_length_one_exist(graph: FunctionGraph, node: Apply) -> bool:
    """The same, of axes that are broadcast in what the array is computed from."""
    source: Any = node.inputs[0]
    owner = source.owner
    if owner is None:
        return True
    ndim = source.type.ndim
    if is_a(owner.op, DimShuffle):
        broadcast = list(source.type.broadcastable)
    else:
        broadcast = [any(_is_one(v, axis, ndim) for v in owner.inputs) for axis in range(ndim)]
    return _single_places_exist(broadcast, _indices(node))


def _is_one(variable: Any, axis: int, ndim: int) -> bool:
    """Whether an operand has length 1 along an axis of the result."""
    own = getattr(variable.type, "broadcastable", None)
    if own is None:
        return False
    place = axis - (ndim - len(own))
    return place < 0 or own[place]


def _single_places_exist(single: list[bool], indices: list[Any]) -> bool:
    return all(
        isinstance(index, slice) or (is_a(index, Constant) and _within_one(np.asarray(index.data)))
        for one, index in zip(single, indices, strict=False)
        if one
    )


def _within_one(places: np.ndarray) -> bool:
    return places.dtype.kind not in "iu" or places.size == 0 or _within(places, 1)


def joined_slices_begin_before_they_end(graph: FunctionGraph, node: Apply) -> bool:
    """Whether no slice among what is joined has its end before its start.

    ``join(0, x[a:b], x[b:c])`` is ``x[a:c]`` only where ``a <= b <= c``.
    """
    given, joined = axis_apart(node, node.inputs)
    if isinstance(given, Variable) and not is_a(given, Constant):
        return False
    axis = int(given.data) if is_a(given, Constant) else given
    parts = [v.owner for v in joined if v.owner is not None]
    read = [_indices(part) for part in parts if is_a(part.op, Subtensor)]
    return all(_begins_before_it_ends(indices[axis]) for indices in read if axis < len(indices))


def _begins_before_it_ends(index: Any) -> bool:
    if not isinstance(index, slice):
        return True
    bounds = [int(v.data) if is_a(v, Constant) else v for v in (index.start, index.stop)]
    start, stop = bounds
    if start in (None, 0) or stop is None:
        return True
    known = isinstance(start, int) and isinstance(stop, int)
    return known and start <= stop and (start < 0) == (stop < 0)


def stops_are_signed(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the bounds of slices are of types that PyTensor's rewrite expects."""
    return not any(
        isinstance(index, slice)
        and isinstance(index.stop, Variable)
        and index.stop.type.dtype.startswith("uint")
        for index in _indices(node)
    )


def writes_slices(graph: FunctionGraph, node: Apply) -> bool:
    """Whether a write names slices only, which are never out of range."""
    op: Any = node.op
    written = getattr(op, "idx_list", None)
    return written is not None and all(
        isinstance(index, slice) for index in unflatten_index_variables(node.inputs[2:], written)
    )


def writes_of_one_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """Whether what is written, now and before, has the dtype of the array."""
    dtype = node.outputs[0].type.dtype
    before = node.inputs[0].owner
    values = [node.inputs[1], *(before.inputs[1:2] if before is not None else ())]
    return all(getattr(v.type, "dtype", dtype) == dtype for v in values)


def whole_writes_fit(graph: FunctionGraph, node: Apply) -> bool:
    """Whether values written to all places are known to be as many; others are not looked at.

    PyTensor makes an array of so many first, and asks afterwards.
    """
    whole = all(
        isinstance(index, slice) and index.start is None and index.stop is None
        for index in unflatten_index_variables(node.inputs[2:], node.op.idx_list)  # type: ignore[attr-defined]
    )
    return not whole or _as_many(graph, node)


def what_is_written_fits(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Whether values written to all places, where they become the result, are known to be as many.

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
