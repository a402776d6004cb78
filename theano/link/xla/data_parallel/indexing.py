"""The rules of indexing: what a device has of elements that are taken or written."""

from __future__ import annotations

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import Alloc, AllocEmpty
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)

from theano.link.xla.data_parallel.parts import ALL, SUMMAND, CannotSplit, Rows, summed
from theano.link.xla.data_parallel.rules import splits
from theano.pytensor_internals.operations.tensor import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    indices_from_subtensor,
)


@splits(Subtensor)
def indexed(op, node, parts, sizes):
    if parts[0] is SUMMAND and all(p is ALL for p in parts[1:]):
        return SUMMAND
    return _rows_of_index(op, node.inputs[1:], parts[0], node.inputs[0].ndim)


def _rows_of_index(op, index_inputs, part, ndim) -> Rows:
    """Return where the batch is in ``x[index]``; its own index must be all of it."""
    if not isinstance(part, Rows):
        raise CannotSplit("its index depends on the batch")
    axis = 0
    entries = list(indices_from_subtensor(index_inputs, op.idx_list))
    entries += [slice(None)] * (ndim - len(entries))
    for position, entry in enumerate(entries):
        if position == part.axis:
            if not isinstance(entry, slice) or not _is_whole(entry):
                raise CannotSplit("it takes some rows of the batch")
            return Rows(axis, part.inner)
        axis += isinstance(entry, slice)
    raise CannotSplit("it has no dimension of the batch")


def _is_whole(entry: slice) -> bool:
    return entry.start is None and entry.stop is None and entry.step is None


@splits(IncSubtensor)
def written(op, node, parts, sizes):
    target, value = parts[:2]
    if any(part is not ALL for part in parts[2:]):
        raise CannotSplit("its index depends on the batch")
    if target is ALL and value is SUMMAND:
        if is_zero(node.inputs[0]):
            return SUMMAND
        raise summed(parts)
    if target is SUMMAND or value is SUMMAND:
        if target is value or (target is SUMMAND and is_zero(node.inputs[1])):
            return SUMMAND
        raise summed(parts)
    if target is ALL:
        raise CannotSplit("it writes rows of the batch into something that is not of the batch")
    place = _rows_of_index(op, node.inputs[2:], target, node.inputs[0].ndim)
    kept = node.inputs[0].ndim - sum(not isinstance(e, slice) for e in op.idx_list)
    if isinstance(value, Rows) and value.axis + kept - node.inputs[1].ndim != place.axis:
        raise CannotSplit("what it writes has the batch in another dimension")
    return target


def is_zero(variable: Variable) -> bool:
    """Return whether a variable is a constant 0, or an array filled with it where it is filled."""
    while variable.owner is not None:
        op, inputs = variable.owner.op, variable.owner.inputs
        if isinstance(op, Alloc | DimShuffle):
            variable = inputs[0]
        elif isinstance(op, IncSubtensor) and isinstance(
            getattr(inputs[0].owner, "op", None), AllocEmpty
        ):
            variable = inputs[1]
        else:
            return False
    data = getattr(variable, "data", None)
    return data is not None and not np.any(data)


@splits(AdvancedSubtensor1)
def rows_taken(op, node, parts, sizes):
    source, index = parts
    if source is ALL and isinstance(index, Rows):
        return index
    if isinstance(source, Rows) and index is ALL and source.axis > 0 and not sizes.differ():
        return Rows(source.axis + node.inputs[1].ndim - 1, source.inner)
    if isinstance(source, Rows) and index is ALL:
        return _taken_of_each_row(source, sizes, 1)
    raise CannotSplit(_SOME_ROWS)


_SOME_ROWS = "it takes some rows of the batch"


def _taken_of_each_row(source, sizes, position) -> Rows:
    """Return what an index takes that takes the same elements of each row, in the order of the rows.

    So do windows of images: rows of ``batch * positions``, at ``row * positions + offsets``.
    """
    own, whole = (np.asarray(known[position]) for known in (sizes.known(), sizes.whole))
    length = np.shape(sizes.known()[0])[0]
    each, rest = divmod(len(own), sizes.rows)
    if source.axis or source.inner * sizes.rows != length or rest or len(whole) % len(own):
        raise CannotSplit(_SOME_ROWS)
    in_order = np.array_equal(own // source.inner, np.arange(len(own)) // each)
    pieces = np.split(whole, len(whole) // len(own))
    starts = range(0, length * len(pieces), length)
    if not in_order or any(
        (piece - first != own).any() for first, piece in zip(starts, pieces, strict=True)
    ):
        raise CannotSplit(_SOME_ROWS)
    return Rows(0, each)


@splits(AdvancedIncSubtensor1)
def rows_added(op, node, parts, sizes):
    target, value, index = parts
    once = op.set_instead_of_inc or getattr(op, "ignore_duplicates", False)
    added = isinstance(value, Rows) and value == index and not once
    if added and (target is SUMMAND or (target is ALL and is_zero(node.inputs[0]))):
        return SUMMAND
    if isinstance(target, Rows) and isinstance(value, Rows) and index is ALL:
        further = node.inputs[1].ndim - node.inputs[0].ndim
        if target.axis and not sizes.differ() and value.axis == target.axis + further:
            return target
        if is_zero(node.inputs[0]):
            # of equal numbers, any order of rows is right
            target = Rows(target.axis, np.shape(sizes.known()[0])[0] // sizes.rows)
        if _taken_of_each_row(target, sizes, 2) == value:
            return target
    raise CannotSplit("it writes rows of the batch")


@splits(AdvancedSubtensor)
def elements_taken(op, node, parts, sizes):
    if len(parts) == 2 and _first(op):
        return rows_taken(op, node, parts, sizes)
    _own_rows(parts[0], parts[1:], node.inputs[1:], sizes, 1)
    return Rows(0)


@splits(AdvancedIncSubtensor)
def elements_written(op, node, parts, sizes):
    if len(parts) == 3 and _first(op):
        return rows_added(op, node, parts, sizes)
    _own_rows(parts[0], parts[2:], node.inputs[2:], sizes, 2)
    return parts[0]


def _first(op) -> bool:
    """Return whether the only index is that of the first dimension."""
    return isinstance(op.idx_list[0], int)


def _own_rows(source, index_parts, index, sizes, first) -> None:
    """Check that an index is ``[arange(rows), values of the rows]``: each row's own elements."""
    values = sizes.known()[first:]
    counts = values and np.ndim(values[0]) == 1 and not hasattr(values[0], "aval")
    if not (
        isinstance(source, Rows)
        and source == Rows(0)
        and len(index) >= 2
        and counts
        and np.array_equal(values[0], np.arange(sizes.rows))
        and any(part == Rows(0) for part in index_parts[1:])
    ):
        raise CannotSplit("its index does not take elements of each row by itself")
