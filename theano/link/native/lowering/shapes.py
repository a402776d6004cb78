"""Shapes: reading them, changing them, and arrays that are given by them."""

from __future__ import annotations

from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, AllocEmpty, Join, MakeVector
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import NoneTypeT

from theano.link.native.ir import CannotLower, Numbers, Scalar, Size, Spread, Value, View
from theano.link.native.lowering.elementwise import cast
from theano.link.native.lowering.registry import lowers
from theano.link.native.step import Step


@lowers(Shape)
def shape(step: Step, node, inputs: list[Value]) -> list[Value]:
    return [Numbers(tuple(step.of_size(size) for size in inputs[0].shape), "int64")]


@lowers(Shape_i)
def size_of_dimension(step: Step, node, inputs: list[Value]) -> list[Value]:
    return [step.of_size(inputs[0].shape[node.op.i])]


@lowers(MakeVector)
def make_vector(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Numbers side by side; they stay apart as long as nothing needs them in memory."""
    items = [cast(step, value, node.op.dtype) for value in inputs]
    return [Numbers(tuple(items), node.op.dtype)]  # type: ignore[arg-type]


@lowers(SpecifyShape)
def specify_shape(step: Step, node, inputs: list[Value]) -> list[Value]:
    value, *wanted = inputs
    for d, (given, variable) in enumerate(zip(wanted, node.inputs[1:], strict=True)):
        if not isinstance(variable.type, NoneTypeT):
            step.sizes.equal(
                value.shape[d], step.size(given, "a size"), f"the specified size of dimension {d}"
            )
    return [value]


@lowers(Alloc)
def alloc(step: Step, node, inputs: list[Value]) -> list[Value]:
    """A value broadcast to a shape; nothing is written unless something needs it in memory."""
    value, *sizes = inputs
    shape = tuple(step.size(size, "a size of Alloc") for size in sizes)
    if isinstance(value, Scalar):
        return [Spread(value, shape) if shape else value]
    flags = node.inputs[0].type.broadcastable
    for d in range(1, value.ndim + 1):
        if not flags[-d]:
            step.sizes.equal(value.shape[-d], shape[-d], "sizes of Alloc")
    if isinstance(value, Spread):
        return [Spread(value.scalar, shape)]
    view = step.view(value)
    lead = len(shape) - view.ndim
    axes = (None,) * lead + tuple(
        None if flag else axis for flag, axis in zip(flags, view.axes, strict=True)
    )
    return [View(view.buffer, shape, axes, (0,) * lead + view.steps, view.start)]


@lowers(AllocEmpty)
def alloc_empty(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Memory in which nothing is written."""
    shape = tuple(step.size(size, "a size of AllocEmpty") for size in inputs)
    if not shape:
        return [step.constant(0, node.op.dtype)]
    return [View.of(step.temporary(node.op.dtype, shape))]


@lowers(Reshape)
def reshape(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The same elements under another shape; one size may be -1."""
    value, wanted = inputs
    if isinstance(wanted, View) and isinstance(wanted.shape[0], int) and step.invariant(wanted):
        wanted = step.numbers(wanted)
    if not isinstance(wanted, Numbers):
        raise CannotLower("a reshape to a shape that is computed as an array")
    sizes = [step.size(item, "a size of Reshape") for item in wanted.items]
    count = step.sizes.product(value.shape)
    unknown = [d for d, size in enumerate(sizes) if size == -1]
    if unknown or any(isinstance(size, str) for size in sizes):
        sizes = _without_unknown(step, sizes, count, unknown)
    step.sizes.equal(step.sizes.product(sizes), count, "the number of elements of a reshape")
    return [step.reshaped(value, tuple(sizes))]


def _without_unknown(step: Step, sizes: list[Size], count: Size, unknown: list[int]) -> list[Size]:
    known = step.sizes.product([size for size in sizes if size != -1])
    for d in unknown:
        sizes[d] = step.sizes.name(f"({known}) ? ({count}) / ({known}) : 0")
    for size in sizes:
        if isinstance(size, str):
            step.sizes.check(f"{size} >= 0", "a size of a reshape is not negative")
    return sizes


@lowers(Join)
def join(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Arrays side by side; what is computed only for this is written in its place at once."""
    axis_value, *values = inputs
    axis = step.size(axis_value, "an axis of Join")
    if not isinstance(axis, int):
        raise CannotLower("a join along an axis that is not constant")
    dtype = node.outputs[0].type.dtype
    values = [cast(step, value, dtype) for value in values]
    if node.outputs[0].type.ndim == 1 and all(isinstance(value, Numbers) for value in values):
        items = [item for value in values for item in value.items]  # type: ignore[union-attr]
        return [Numbers(tuple(items), dtype)]
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
    """An assertion on numbers that are known before the loop is a condition of the call."""
    value, *conditions = inputs
    for condition in conditions:
        if not isinstance(condition, Scalar):
            raise CannotLower("an assertion on an array")
        if condition.invariant:
            step.sizes.check(condition.expression, node.op.msg)
        else:
            step.check(condition.expression, node.op.exc_type, node.op.msg, condition)
    return [value]
