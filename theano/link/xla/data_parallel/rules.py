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
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    MakeVector,
    ScalarFromTensor,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.math import Argmax, Dot, Sum
from pytensor.tensor.shape import Reshape, Shape_i, SpecifyShape
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.subtensor import IncSubtensor

from theano.link.xla.data_parallel.parts import (
    ALL,
    COUNT,
    SUMMAND,
    TOTAL,
    CannotSplit,
    NeedsSum,
    ReadsPartialSum,
    Rows,
    Sizes,
    summed,
)
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.axes import axis_apart
from theano.pytensor_internals.operations.tensor import BatchedDot
from theano.sandbox.mrg_uniform import mrg_uniform
from theano.tensor.nnet.correlation.operators import Correlation
from theano.tensor.signal.pooling.operators import OverWindows

Rule = Callable[..., Any]
_RULES: dict[type, Rule] = {}


def splits(*classes: type) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of these classes and their subclasses."""

    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(classes, function))
        return function

    return register


def parts_of_results(node: Apply, parts: list[Any], sizes: Any) -> list[Any]:
    """Return what a device has of each output of a node.

    Raises
    ------
    CannotSplit
        When there is no rule, or it does not apply.
    NeedsSum
        When inputs must be summed over the devices first.
    """
    rule = next((_RULES[kind] for kind in type(node.op).__mro__ if kind in _RULES), None)
    if all(part is ALL for part in parts) and not sizes.differ():
        return [ALL] * len(node.outputs)
    if TOTAL in parts and not isinstance(node.op, Scan | OpFromGraph):
        return _parts_with_total(node, parts, sizes)
    if COUNT in parts and isinstance(node.op, mrg_uniform):
        raise CannotSplit("it draws for each row; draw before the loop, for all its steps")
    if COUNT in parts and not isinstance(node.op, _READ_COUNTS):
        raise CannotSplit(_COMPUTES)
    if rule is None:
        raise CannotSplit("no rule says how devices share it")
    found = rule(node.op, node, parts, sizes)
    return list(found) if isinstance(found, list) else [found] * len(node.outputs)


def _parts_with_total(node: Any, parts: list[Any], sizes: object) -> list[Any]:
    """Allow computing with a number of all rows, which is no length."""
    if not isinstance(node.op, Elemwise | DimShuffle | ScalarFromTensor | TensorFromScalar):
        raise CannotSplit(_COMPUTES)
    results = parts_of_results(node, [ALL if p is TOTAL else p for p in parts], sizes)
    whole = [
        part is ALL and v.dtype.startswith(("int", "uint"))
        for part, v in zip(results, node.outputs, strict=True)
    ]
    return [TOTAL if is_total else part for is_total, part in zip(whole, results, strict=True)]


# Within loops, where devices know the number of their own rows: what may read it, as a length
_READ_COUNTS = (
    Alloc,
    AllocEmpty,
    Elemwise,
    MakeVector,
    OpFromGraph,
    Reshape,
    ScalarFromTensor,
    Scan,
    TensorFromScalar,
)
_COMPUTES = "it computes with the number of rows, which is to be done after the loop"


def _same_rows(parts: list[Any]) -> Rows:
    """Return the rows that all inputs with rows have; others must be whole."""
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
            raise CannotSplit(_COMPUTES)
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
    sorts = isinstance(op, SortOp | ArgSortOp)
    axis = axis_apart(node, node.inputs)[0] if sorts else op.axis
    axis = getattr(axis, "data", axis)
    axes = (axis,) if isinstance(axis, int | np.integer | np.ndarray) else axis
    if axes is None or any(int(one) % node.inputs[0].ndim == part.axis for one in axes):
        raise CannotSplit("it goes along the batch")
    if not isinstance(op, Argmax):
        return part
    return Rows(part.axis - sum(int(one) < part.axis for one in axes), part.inner)


@splits(RFFTOp, IRFFTOp)
def transformed(op, node, parts, sizes):
    part = parts[0]
    if part is SUMMAND or (isinstance(part, Rows) and part.axis == 0):
        return part
    raise CannotSplit("it goes along the batch")


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


@splits(Correlation)
def correlated(op, node, parts, sizes):
    first, second = parts[:2]
    if SUMMAND in parts:
        # it is linear in each of the two
        if ALL in (first, second):
            return SUMMAND
        raise summed(parts)
    if any(isinstance(part, Rows) and part.axis for part in (first, second)):
        raise CannotSplit("the batch is not the dimension of the images")
    if op.direction == "weights":
        if first == second:
            return SUMMAND
        raise CannotSplit("only the images or only the results have the batch")
    of_images = first if op.direction == "forward" else second
    if ALL not in (first, second) or of_images is ALL:
        raise CannotSplit("each image would have its own filters")
    return of_images


@splits(OverWindows)
def pooled(op, node, parts, sizes):
    rows, ndim = _same_rows(parts), node.inputs[0].ndim
    arrays = [part for part, v in zip(parts, node.inputs, strict=True) if v.ndim == ndim]
    if rows.axis >= ndim - op.ndim:
        raise CannotSplit("its windows go over the dimension of the batch")
    if ALL in arrays:
        raise CannotSplit("only some of its arrays have the batch")
    return rows


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
        if sizes.differ() or COUNT in parts:
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


@splits(Join)
def joined(op, node, parts, sizes):
    axis, tensors = axis_apart(node, parts)
    if all(part is SUMMAND for part in tensors):
        return SUMMAND
    rows = _same_rows(tensors)
    axis = axis_apart(node, node.inputs)[0]
    axis = getattr(axis, "data", axis)
    axis = rows.axis if isinstance(axis, Variable) else int(axis)
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

    def part_of(variable: Variable) -> Any:
        return ALL if isinstance(variable, Constant) else known[variable]

    for node in graph.toposort():
        try:
            found = parts_of_results(node, [part_of(v) for v in node.inputs], nowhere)
        except NeedsSum as error:
            message = f"inside, {node.op} needs a sum over the batch"
            if not _adds(node.op):
                raise CannotSplit(message) from error
            whole = [v for v in node.inputs if part_of(v) is ALL]
            raise ReadsPartialSum(message, whole) from error
        except ReadsPartialSum:
            raise
        except CannotSplit as error:
            raise CannotSplit(f"inside, {node.op}: {error}") from error
        known.update(zip(node.outputs, found, strict=True))
    return [part_of(v) for v in graph.outputs]


def _adds(op) -> bool:
    if isinstance(op, Elemwise):
        return isinstance(op.scalar_op, scalar.Add | scalar.Sub)
    return isinstance(op, IncSubtensor)


@splits(MakeVector)
def lengths(op, node, parts, sizes):
    if any(part not in (ALL, COUNT) for part in parts):
        raise CannotSplit("it joins numbers that depend on the batch")
    return COUNT if COUNT in parts else ALL


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
