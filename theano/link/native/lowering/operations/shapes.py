"""Shapes: reading them, changing them, and arrays that are given by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, AllocEmpty, ExtractDiag, Join, MakeVector, Split
from pytensor.tensor.extra_ops import Repeat
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import NoneTypeT

from theano.compile.rebroadcast import Rebroadcast
from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Size, Splat, Value, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Choice, Operation, compared, maximum, minimum
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import TakeDiagonal
from theano.pytensor_internals.operations.axes import axis_apart
from theano.pytensor_internals.operations.tensor import JoinDims, SplitDims

# rows that are repeated each by its own number; each is a copy, which the C compiler reads
MOST_REPEATED = 64


@lowers(Shape)
def shape(step: Step, node, inputs: list[Value]) -> list[Value]:
    return [IndexVector(tuple(step.of_size(size) for size in inputs[0].shape), "int64")]


@lowers(Shape_i)
def size_of_dimension(step: Step, node, inputs: list[Value]) -> list[Value]:
    return [step.of_size(inputs[0].shape[node.op.i])]


@lowers(MakeVector)
def make_vector(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Numbers side by side; they stay apart as long as nothing needs them in memory."""
    items = [cast(step, value, node.op.dtype) for value in inputs]
    return [IndexVector(tuple(items), node.op.dtype)]  # type: ignore[arg-type]


@lowers(SpecifyShape)
def specify_shape(step: Step, node, inputs: list[Value]) -> list[Value]:
    value, *wanted = inputs
    for d, (given, variable) in enumerate(zip(wanted, node.inputs[1:], strict=True)):
        if not isinstance(variable.type, NoneTypeT):
            step.sizes.equal(
                value.shape[d], step.size(given, "a size"), f"the specified size of dimension {d}"
            )
    return [value]


@lowers(Rebroadcast)
def rebroadcast(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the value itself, of other lengths in its type only."""
    (value,) = inputs
    for axis in (axis for axis, is_one in node.op.axis.items() if is_one):
        step.sizes.equal(1, value.shape[axis], f"the length 1 of dimension {axis}")
    return [value]


def _sizes(step: Step, values: Sequence[Value], what: str) -> tuple[Size, ...]:
    """Numbers as sizes, which are not negative."""
    sizes = tuple(step.size(value, what) for value in values)
    for size in sizes:
        if not isinstance(size, int) or size < 0:
            step.sizes.check(compared(size, ">=", 0), f"{what} that is not negative")
    return sizes


@lowers(Alloc)
def alloc(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a value broadcast to a shape; nothing is written unless something needs it in memory."""
    value, *sizes = inputs
    shape = _sizes(step, sizes, "a size of Alloc")
    itemsize = np.dtype(value.dtype).itemsize
    step.sizes.check_memory(shape, itemsize, "an array of Alloc that memory is large enough for")
    if isinstance(value, Scalar):
        return [Splat(value, shape) if shape else value]
    flags = node.inputs[0].type.broadcastable
    for d in range(1, value.ndim + 1):
        if not flags[-d]:
            step.sizes.equal(value.shape[-d], shape[-d], "sizes of Alloc")
    if isinstance(value, Splat):
        return [Splat(value.scalar, shape)]
    view = step.view(value)
    lead = len(shape) - view.ndim
    axes = (None,) * lead + tuple(
        None if flag else axis for flag, axis in zip(flags, view.axes, strict=True)
    )
    return [View(view.buffer, shape, axes, (0,) * lead + view.steps, view.start)]


@lowers(AllocEmpty)
def alloc_empty(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Memory in which nothing is written."""
    shape = _sizes(step, inputs, "a size of AllocEmpty")
    if not shape:
        return [step.constant(0, node.op.dtype)]
    empty = step.temporary(node.op.dtype, shape)
    empty.may_be_unwritten = True
    return [View.of(empty)]


@lowers(Reshape)
def reshape(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the same elements under another shape; one size may be -1."""
    value, wanted = inputs
    given = numbers_of(step, wanted, node.outputs[0].type.ndim, "a shape")
    sizes = [step.size(item, "a size of Reshape") for item in given]
    count = step.sizes.product(value.shape)
    unknown = [d for d, size in enumerate(sizes) if size == -1]
    if unknown or not all(isinstance(size, int) for size in sizes):
        sizes = _without_unknown(step, sizes, count, unknown)
    step.sizes.equal(step.sizes.product(sizes), count, "the number of elements of a reshape")
    return [step.reshaped(value, tuple(sizes))]


def numbers_of(step: Step, value: Value, count: int, what: str) -> tuple[Scalar, ...]:
    """Return the items of a short vector of this length, one by one."""
    if isinstance(value, Splat):
        step.sizes.equal(value.shape[0], count, f"the length of {what}")
        return (value.scalar,) * count
    if isinstance(value, View) and step.invariant(value):
        step.sizes.equal(value.shape[0], count, f"the length of {what}")
        start, steps = value.start, value.steps
        value = step.numbers(View(value.buffer, (count,), value.axes, steps, start))
    if not isinstance(value, IndexVector):
        raise CannotLower(f"{what} that is computed as an array")
    return value.items


def _without_unknown(step: Step, sizes: list[Size], count: Size, unknown: list[int]) -> list[Size]:
    known = step.sizes.product([size for size in sizes if size != -1])
    for d in unknown:
        sizes[d] = step.sizes.name(Choice(known, Operation("/", count, known), 0))
    for size in sizes:
        if not isinstance(size, int):
            step.sizes.check(compared(size, ">=", 0), "a size of a reshape is not negative")
    return sizes


@lowers(JoinDims)
def join_dimensions(step: Step, node, inputs: list[Value]) -> list[Value]:
    (value,) = inputs
    first, past = node.op.start_axis, node.op.start_axis + node.op.n_axes
    joined = step.sizes.product(value.shape[first:past])
    return [step.reshaped(value, (*value.shape[:first], joined, *value.shape[past:]))]


@lowers(SplitDims)
def split_dimension(step: Step, node, inputs: list[Value]) -> list[Value]:
    value, wanted = inputs
    axis, more = node.op.axis, node.outputs[0].type.ndim - value.ndim + 1
    given = numbers_of(step, wanted, more, "a shape")
    sizes = _sizes(step, given, "a size of SplitDims")
    step.sizes.equal(step.sizes.product(sizes), value.shape[axis], "the sizes of a split dimension")
    return [step.reshaped(value, (*value.shape[:axis], *sizes, *value.shape[axis + 1 :]))]


def constant_axis(step: Step, axis: int | Value, operation: str) -> int:
    known = axis if isinstance(axis, int) else step.size(axis, f"an axis of {operation}")
    if not isinstance(known, int):
        raise CannotLower(f"an axis of {operation} that is not constant")
    return known


@lowers(Split)
def split(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Parts along an axis, which are views."""
    axis, (value, lengths) = axis_apart(node, inputs)
    axis = constant_axis(step, axis, "Split")
    axis %= value.ndim
    given = numbers_of(step, lengths, node.op.len_splits, "a list of lengths")
    sizes = _sizes(step, given, "a length of Split")
    view = step.view(value)
    parts: list[Value] = []
    begin: Size = 0
    for size in sizes:
        parts.append(_part(step, view, axis, begin, _with_size(view.shape, axis, size)))
        begin = step.sizes.binary(begin, "+", size)
    step.sizes.equal(begin, value.shape[axis], "the sum of the lengths of Split")
    return parts


def _part(step: Step, view: View, axis: int, begin: Size, shape: tuple[Size, ...]) -> View:
    """Return the part of a view that begins at a position along an axis."""
    start, along = list(view.start), view.axes[axis]
    if along is not None:
        moved = step.sizes.binary(begin, "*", view.steps[axis])
        start[along] = step.sizes.binary(start[along], "+", moved)
    return View(view.buffer, shape, view.axes, view.steps, tuple(start))


@lowers(ExtractDiag)
def diagonal(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the elements whose indices along two axes differ by the offset; their axis comes last."""
    view, op = step.view(inputs[0]), node.op
    down, right = max(-op.offset, 0), max(op.offset, 0)
    if max(down, right) >= 2**63:
        raise CannotLower("an offset that does not fit 64 bits")
    rows, columns = view.shape[op.axis1], view.shape[op.axis2]
    length = _shorter(step, Operation("-", rows, down), Operation("-", columns, right))
    others = [d for d in range(view.ndim) if d not in (op.axis1, op.axis2)]
    out = step.temporary(view.dtype, (*(view.shape[d] for d in others), length))
    task = TakeDiagonal((op.axis1, op.axis2), down, right)
    step.append(Kernel([View.of(out)], [view], task), out)
    return [View.of(out)]


def _shorter(step: Step, first: Size, second: Size) -> Size:
    return step.sizes.name(maximum(step.sizes.name(minimum(first, second)), 0))


@lowers(Repeat)
def repeat(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Each row so many times as is known before the loop: the same for all, or for each its own."""
    view, axis = step.view(inputs[0]), node.op.axis
    times = inputs[1]
    if isinstance(times, Splat):
        items: tuple[Scalar, ...] = (times.scalar,)
        step.sizes.equal(times.shape[0], view.shape[axis], "the number of repeats")
    else:
        count = times.shape[0]
        if not isinstance(count, int):
            raise CannotLower("repeats of a number of rows that is not constant")
        if count > MOST_REPEATED:
            raise CannotLower(f"repeats of more than {MOST_REPEATED} rows, each by its own number")
        step.sizes.equal(count, view.shape[axis], "the number of repeats")
        items = numbers_of(step, times, count, "a list of repeats")
    sizes = _sizes(step, items, "a number of repeats")
    if isinstance(times, Splat):
        return [_repeated(step, view, axis, sizes[0])]
    starts: list[Size] = [0]
    for size in sizes:
        starts.append(step.sizes.binary(starts[-1], "+", size))
    out = step.temporary(view.dtype, _with_size(view.shape, axis, starts[-1]))
    for row, (start, size) in enumerate(zip(starts[:-1], sizes, strict=True)):
        part = _part(step, View.of(out), axis, start, _with_size(view.shape, axis, size))
        one = _part(step, view, axis, row, _with_size(view.shape, axis, 1))
        step.append(Copy(part, step.stretched(one, part.shape)), out)
    return [View.of(out)]


def _repeated(step: Step, view: View, axis: int, times: Size) -> View:
    """Each row along an axis as often: a copy of what has a dimension more, of the same rows."""
    before, rows, after = view.shape[:axis], view.shape[axis], view.shape[axis + 1 :]
    shape = (*before, rows, times, *after)
    axes = (*view.axes[: axis + 1], None, *view.axes[axis + 1 :])
    steps = (*view.steps[: axis + 1], 0, *view.steps[axis + 1 :])
    copy = View.of(step.copied(View(view.buffer, shape, axes, steps, view.start)))
    total = step.sizes.binary(rows, "*", times)
    return step.view(step.reshaped(copy, (*before, total, *after)))


def _with_size(shape: tuple[Size, ...], axis: int, size: Size) -> tuple[Size, ...]:
    return tuple(size if d == axis else n for d, n in enumerate(shape))


@lowers(Join)
def join(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Arrays side by side; what is computed only for this is written in its place at once."""
    axis, values = axis_apart(node, inputs)
    axis = constant_axis(step, axis, "Join")
    dtype = node.outputs[0].type.dtype
    values = [cast(step, value, dtype) for value in values]
    if node.outputs[0].type.ndim == 1 and all(isinstance(value, IndexVector) for value in values):
        items = [item for value in values for item in value.items]  # type: ignore[union-attr]
        return [IndexVector(tuple(items), dtype)]
    axis %= values[0].ndim
    shape = list(values[0].shape)
    starts: list[Size] = [0]
    for value in values:
        for d in range(value.ndim):
            if d != axis:
                shape[d] = step.sizes.equal(shape[d], value.shape[d], "sizes of a join")
        starts.append(step.sizes.binary(starts[-1], "+", value.shape[axis]))
    shape[axis] = starts[-1]
    out = step.temporary(dtype, shape)
    for value, start in zip(values, starts[:-1], strict=True):
        ndim = len(shape)
        begin = tuple(start if d == axis else 0 for d in range(ndim))
        part = View(out, value.shape, tuple(range(ndim)), (1,) * ndim, begin)
        step.place(value, part)
    return [View.of(out)]


@lowers(CheckAndRaise)
def check(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return an assertion on numbers that are known before the loop is a condition of the call."""
    value, *conditions = inputs
    for condition in conditions:
        if not isinstance(condition, Scalar):
            raise CannotLower("an assertion on an array")
        if condition.invariant:
            step.sizes.check(condition.symbol, node.op.msg)
        else:
            holds = Expression("holds", "holds", None, "bool")
            step.check(holds, [condition], node.op.exc_type, node.op.msg)
    return [value]
