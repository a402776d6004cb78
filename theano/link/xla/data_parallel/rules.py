"""The table of rules: from what a device has of an operation's inputs to what it has of its result.

A rule is ``function(op, node, parts, sizes)``; it returns the part of each output, or of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    ScalarFromTensor,
    TensorFromScalar,
)
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax, Dot, Sum
from pytensor.tensor.shape import Reshape, Shape_i, SpecifyShape
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)

from theano.link.xla.data_parallel.parts import (
    ALL,
    COUNT,
    SUMMAND,
    CannotSplit,
    NeedsSum,
    Rows,
    Sizes,
    summed,
)

Rule = Callable[..., Any]
_RULES: dict[type, Rule] = {}


def splits(*classes: type) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of these classes and their subclasses."""

    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(classes, function))
        return function

    return register


def parts_of_results(node: Any, parts: list[Any], sizes: Any) -> list[Any]:
    """Return what a device has of each output of a node.

    Raises
    ------
    CannotSplit
        When there is no rule, or it cannot be said.
    NeedsSum
        When inputs must be summed over the devices first.
    """
    rule = next((_RULES[kind] for kind in type(node.op).__mro__ if kind in _RULES), None)
    if all(part is ALL for part in parts) and not sizes.differ():
        return [ALL] * len(node.outputs)
    if rule is None:
        raise CannotSplit("there is no rule for it")
    found = rule(node.op, node, parts, sizes)
    return list(found) if isinstance(found, list) else [found] * len(node.outputs)


def _same_rows(parts: list[Any]) -> Rows:
    """The rows that all inputs with rows have; others must be whole."""
    if SUMMAND in parts:
        raise summed(parts)
    rows = {part for part in parts if isinstance(part, Rows)}
    if len(rows) != 1:
        raise CannotSplit("its inputs have the batch in different dimensions")
    return rows.pop()


# One summand among whole values: the result is a summand, too
_LINEAR = (scalar.Neg, scalar.Identity, scalar.Cast)
_PRODUCTS = (scalar.Mul,)


# What chooses between lengths
_OF_LENGTHS = (
    scalar.EQ,
    scalar.NEQ,
    scalar.LT,
    scalar.LE,
    scalar.GT,
    scalar.GE,
    scalar.AND,
    scalar.OR,
    scalar.Switch,
    scalar.Cast,
    scalar.ScalarMinimum,
    scalar.ScalarMaximum,
)


@splits(Elemwise)
def elementwise(op, node, parts, sizes):
    if any(isinstance(part, Rows) for part in parts):
        return _same_rows(parts)
    kind, count = op.scalar_op, parts.count(SUMMAND)
    if COUNT in parts:
        if SUMMAND in parts or not isinstance(kind, _OF_LENGTHS):
            raise CannotSplit("it computes with the number of rows")
        return COUNT
    if isinstance(kind, scalar.Add | scalar.Sub) and count == len(parts):
        return SUMMAND
    if isinstance(kind, _PRODUCTS) and count == 1:
        return SUMMAND
    if isinstance(kind, scalar.TrueDiv) and parts[0] is SUMMAND and count == 1:
        return SUMMAND
    to_float = all(v.dtype.startswith("float") for v in (*node.inputs, *node.outputs))
    if isinstance(kind, _LINEAR) and to_float:
        return SUMMAND
    raise summed(parts)


@splits(DimShuffle)
def reordered(op, node, parts, sizes):
    (part,) = parts
    if part is SUMMAND:
        return SUMMAND
    if part.axis not in op.new_order:
        raise CannotSplit("it drops the dimension of the batch")
    return Rows(op.new_order.index(part.axis), part.inner)


@splits(CAReduce)
def reduced(op, node, parts, sizes):
    (part,) = parts
    axes = op.axis if op.axis is not None else tuple(range(node.inputs[0].ndim))
    if part is SUMMAND:
        if not isinstance(op, Sum):
            raise summed(parts)
        return SUMMAND
    if part.axis not in axes:
        return Rows(part.axis - sum(axis < part.axis for axis in axes), part.inner)
    if not isinstance(op, Sum):
        raise CannotSplit("it reduces the batch by another operation than a sum")
    return SUMMAND


@splits(Argmax, CumOp, SortOp, ArgSortOp)
def along_a_dimension(op, node, parts, sizes):
    part = parts[0]
    if not isinstance(part, Rows):
        raise summed(parts)
    axis = op.axis if hasattr(op, "axis") else getattr(node.inputs[1], "data", None)
    axes = (axis,) if isinstance(axis, int | np.integer | np.ndarray) else axis
    if axes is None or any(int(one) % node.inputs[0].ndim == part.axis for one in axes):
        raise CannotSplit("it goes along the batch")
    if not isinstance(op, Argmax):
        return part
    return Rows(part.axis - sum(int(one) < part.axis for one in axes), part.inner)


@splits(DeepCopyOp, ViewOp)
def copied(op, node, parts, sizes):
    return parts[0]


@splits(BatchedDot)
def batched(op, node, parts, sizes):
    rows = _same_rows(parts)
    if rows.axis or ALL in parts:
        raise CannotSplit("the batch is not what it goes over")
    return rows


@splits(Dot)
def product(op, node, parts, sizes):
    return _product(node.inputs[0].ndim, node.inputs[1].ndim, parts)


def _product(left_ndim: int, right_ndim: int, parts: list[Any]) -> Any:
    left, right = parts
    if SUMMAND in parts:
        if ALL in parts:
            return SUMMAND
        raise summed(parts)
    contracted = (left_ndim - 1, max(right_ndim - 2, 0))
    in_sum = [
        isinstance(p, Rows) and p.axis == axis for p, axis in zip(parts, contracted, strict=True)
    ]
    if all(in_sum) and left.inner == right.inner:
        return SUMMAND
    if any(in_sum):
        raise CannotSplit("only one factor has the batch in the dimension that is summed")
    if right is ALL:
        return left
    if left is ALL:
        return Rows(right.axis - 1 + (left_ndim - 1), right.inner)
    raise CannotSplit("both factors have the batch, in dimensions that stay")


@splits(Blockwise)
def blockwise(op, node, parts, sizes):
    if SUMMAND in parts:
        if isinstance(op.core_op, Dot) and ALL in parts:
            return SUMMAND
        raise summed(parts)
    batch = op.batch_ndim(node)
    if all(p is ALL or p.axis < batch for p in parts):
        return _same_rows(parts)
    if isinstance(op.core_op, Dot) and all(p is ALL or p.axis >= batch for p in parts):
        cores = [p if p is ALL else Rows(p.axis - batch, p.inner) for p in parts]
        found = _product(*(v.ndim - batch for v in node.inputs), cores)
        return Rows(found.axis + batch, found.inner) if isinstance(found, Rows) else found
    raise CannotSplit("the batch is in a dimension of its core")


@splits(Reshape)
def reshaped(op, node, parts, sizes):
    part = parts[0]
    if part in (ALL, SUMMAND):
        if sizes.differ():
            raise CannotSplit("its shape is of the batch, and what it reshapes is not")
        return part
    before = np.shape(sizes.known()[0])
    after = _reshaped(before, [int(n) for n in np.asarray(sizes.known()[1])])
    step = part.inner * math.prod(before[part.axis + 1 :])
    for axis in range(len(after)):
        below = math.prod(after[axis + 1 :])
        if step % below == 0 and (below * after[axis]) % (step * sizes.rows) == 0:
            return Rows(axis, step // below)
    raise CannotSplit(f"it cuts rows: from {before} to {after}")


def _reshaped(before: tuple[int, ...], after: list[int]) -> list[int]:
    rest = math.prod(before) // max(math.prod(n for n in after if n != -1), 1)
    return [rest if n == -1 else n for n in after]


@splits(Alloc, AllocEmpty)
def _alloc(op, node, parts, sizes):
    first = 0 if isinstance(op, AllocEmpty) else 1
    filled = parts[0] if first else ALL
    count = len(node.inputs) - first
    if isinstance(filled, Rows):
        return Rows(filled.axis + count - node.inputs[0].ndim, filled.inner)
    if sizes.values is None:
        split = [axis for axis, part in enumerate(parts[first:]) if part is COUNT]
    else:
        own_and_whole = zip(sizes.values[first:], sizes.whole[first:], strict=True)
        split = [axis for axis, (own, whole) in enumerate(own_and_whole) if int(own) != int(whole)]
    if filled is SUMMAND:
        if split:
            raise summed(parts)
        return SUMMAND
    if not split:
        return ALL
    if len(split) > 1:
        raise CannotSplit("several of its lengths are the batch's")
    return Rows(split[0])


@splits(Subtensor)
def indexed(op, node, parts, sizes):
    if parts[0] is SUMMAND and all(p is ALL for p in parts[1:]):
        return SUMMAND
    return _rows_of_index(op, node.inputs[1:], parts[0], node.inputs[0].ndim)


def _rows_of_index(op, index_inputs, part, ndim) -> Rows:
    """Where the batch is in ``x[index]``; its own index must be all of it."""
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
        if _is_zero(node.inputs[0]):
            return SUMMAND
        raise summed(parts)
    if target is SUMMAND or value is SUMMAND:
        if target is value or (target is SUMMAND and _is_zero(node.inputs[1])):
            return SUMMAND
        raise summed(parts)
    if target is ALL:
        raise CannotSplit("it writes rows of the batch into something that is not of the batch")
    place = _rows_of_index(op, node.inputs[2:], target, node.inputs[0].ndim)
    kept = node.inputs[0].ndim - sum(not isinstance(e, slice) for e in op.idx_list)
    if isinstance(value, Rows) and value.axis + kept - node.inputs[1].ndim != place.axis:
        raise CannotSplit("what it writes has the batch in another dimension")
    return target


def _is_zero(variable: Any) -> bool:
    """Whether a variable is a constant 0, or an array filled with it."""
    while variable.owner is not None and isinstance(variable.owner.op, Alloc | DimShuffle):
        variable = variable.owner.inputs[0]
    data = getattr(variable, "data", None)
    return data is not None and not np.any(data)


@splits(AdvancedSubtensor1)
def rows_taken(op, node, parts, sizes):
    source, index = parts
    if source is ALL and isinstance(index, Rows):
        return Rows(0, index.inner)
    if isinstance(source, Rows) and index is ALL and source.axis > 0:
        return source
    raise CannotSplit("it takes some rows of the batch")


@splits(AdvancedIncSubtensor1)
def rows_added(op, node, parts, sizes):
    target, value, index = parts
    added = isinstance(value, Rows) and isinstance(index, Rows) and not op.set_instead_of_inc
    if added and (target is SUMMAND or (target is ALL and _is_zero(node.inputs[0]))):
        return SUMMAND
    raise CannotSplit("it writes rows of the batch")


@splits(AdvancedSubtensor)
def elements_taken(op, node, parts, sizes):
    if parts[0] is ALL and len(parts) == 2 and isinstance(parts[1], Rows) and _first(op):
        return parts[1]
    _own_rows(parts[0], parts[1:], node.inputs[1:], sizes, 1)
    return Rows(0)


@splits(AdvancedIncSubtensor)
def elements_written(op, node, parts, sizes):
    target, value = parts[:2]
    if len(parts) == 3 and isinstance(value, Rows) and value == parts[2] and _first(op):
        empty = target is SUMMAND or (target is ALL and _is_zero(node.inputs[0]))
        if empty and not op.set_instead_of_inc:
            return SUMMAND
    _own_rows(parts[0], parts[2:], node.inputs[2:], sizes, 2)
    return parts[0]


def _first(op) -> bool:
    """Whether the only index is that of the first dimension."""
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


@splits(Join)
def joined(op, node, parts, sizes):
    tensors = parts[1:]
    if all(part is SUMMAND for part in tensors):
        return SUMMAND
    rows = _same_rows(tensors)
    axis = int(node.inputs[0].data) if hasattr(node.inputs[0], "data") else rows.axis
    if axis % node.outputs[0].ndim == rows.axis or ALL in tensors:
        raise CannotSplit("it joins rows of the batch with something else")
    return rows


@splits(OpFromGraph)
def inner_graph(op, node, parts, sizes):
    if getattr(op, "each_row_alone", False):
        rows = _same_rows(parts)
        if rows.axis:
            raise CannotSplit("the batch is within its rows")
        return rows
    return parts_of_graph(op.fgraph, parts, sizes.rows)


def parts_of_graph(graph, inputs, rows: int) -> list[Any]:
    """Return the parts of a graph's outputs, of whose values nothing is known."""
    known = dict(zip(graph.inputs, inputs, strict=True))
    nowhere = Sizes(None, None, rows)

    def part_of(variable: Any) -> Any:
        return ALL if isinstance(variable, Constant) else known[variable]

    for node in graph.toposort():
        try:
            found = parts_of_results(node, [part_of(v) for v in node.inputs], nowhere)
        except NeedsSum as error:
            raise CannotSplit(f"inside, {node.op} needs a sum over the batch") from error
        except CannotSplit as error:
            raise CannotSplit(f"inside, {node.op}: {error}") from error
        known.update(zip(node.outputs, found, strict=True))
    return [part_of(v) for v in graph.outputs]


@splits(Shape_i)
def length(op, node, parts, sizes):
    (part,) = parts
    return COUNT if part == Rows(op.i) else ALL


@splits(SpecifyShape, CheckAndRaise, TensorFromScalar, ScalarFromTensor)
def passed_on(op, node, parts, sizes):
    if SUMMAND in parts[1:]:
        raise summed([ALL, *parts[1:]])
    # each device checks its own rows, and an error of one is an error of the call
    return parts[0]
