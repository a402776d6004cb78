"""Rules for padded arrays of operations other than indexing and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar import basic as scalar
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    ARange,
    Join,
    MakeVector,
    ScalarFromTensor,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax, Dot, MulWithoutZeros
from pytensor.tensor.shape import Reshape, SpecifyShape

from theano.link.xla.buckets.numbers import Varying, each_of
from theano.link.xla.buckets.padding import CannotBucket, Padded, same_lengths
from theano.link.xla.buckets.trace import pads, shape_each
from theano.link.xla.context import is_traced
from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.operations.axes import axis_among, axis_apart
from theano.pytensor_internals.operations.tensor import BatchedDot, JoinDims, SplitDims


@pads(Elemwise)
def elementwise(op, node, inputs, trace):
    """Compute the padding of the result from that of the inputs."""
    inputs = [trace.data(x) for x in inputs]
    parts = [x for x in inputs if isinstance(x, Padded)]
    if not parts:
        return trace.lower(node, inputs)
    axes = {part.axis for part in parts}
    if len(axes) > 1:
        raise CannotBucket("two dimensions of its result would be padded")
    axis, lengths = axes.pop(), same_lengths(parts)
    for x in inputs:
        if not isinstance(x, Padded) and np.shape(x)[axis] != 1:
            raise CannotBucket(
                f"it combines padded rows with an array of {np.shape(x)[axis]}, of which it is not "
                "known that it always has as many"
            )
    return [Padded(value, axis, lengths) for value in trace.lower(node, inputs)]


@pads(ScalarFromTensor, TensorFromScalar, MakeVector)
def of_numbers(op, node, inputs, trace):
    """Numbers that vary, besides traced ones."""
    return trace.lower(node, [trace.data(x) for x in inputs])


@pads(DimShuffle)
def dimensions_changed(op, node, inputs, trace):
    """Move the dimension with padding to its new place."""
    (x,) = inputs
    if isinstance(x, Varying):
        return trace.lower(node, [trace.data(x)])
    if x.axis not in op.new_order:
        raise CannotBucket("it drops the padded dimension")
    (value,) = trace.lower(node, inputs)
    return Padded(value, op.new_order.index(x.axis), x.lengths, x.is_zero)


def _least(dtype: Any) -> Any:
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _greatest(dtype: Any) -> Any:
    if dtype.kind == "b":
        return True
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


# What a reduction does not notice
_NEUTRAL: dict[type, Any] = {
    scalar.Add: lambda dtype: 0,
    scalar.Mul: lambda dtype: 1,
    scalar.Maximum: _least,
    scalar.Minimum: _greatest,
    scalar.AND: lambda dtype: True if dtype.kind == "b" else -1,
    scalar.OR: lambda dtype: 0,
    scalar.XOR: lambda dtype: 0,
    MulWithoutZeros: lambda dtype: 0,
}


@pads(CAReduce)
def reduced(op, node, inputs, trace):
    """Return padding that is reduced over is filled with what the reduction does not notice."""
    (x,) = inputs
    if isinstance(x, Varying):
        return trace.lower(node, [trace.data(x)])
    axes = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    if x.axis not in axes:
        (value,) = trace.lower(node, inputs)
        return x.with_value(value, x.axis - sum(axis < x.axis for axis in axes))
    neutral = _NEUTRAL.get(type(op.scalar_op))
    dtype = np.dtype(x.value.dtype)
    if isinstance(op.scalar_op, scalar.Maximum | scalar.Minimum):
        _has_rows(x)
    if neutral is None or dtype.kind == "c":
        raise CannotBucket("it reduces the padded dimension")
    return trace.lower(node, [trace.filled(x, neutral(dtype))])


def _has_rows(x: Padded) -> None:
    """Check that there is something to choose from, which is an error otherwise."""
    if not x.lengths.min():
        raise CannotBucket("for some length there is no row")


@pads(Argmax)
def position_of_maximum(op, node, inputs, trace):
    """Return padding is never the greatest; where all are the least, the first is taken."""
    (x,) = inputs
    axes = tuple(range(x.ndim)) if op.axis is None else tuple(op.axis)
    if x.axis not in axes:
        (value,) = trace.lower(node, inputs)
        return x.with_value(value, x.axis - sum(axis < x.axis for axis in axes))
    _has_rows(x)
    if x.axis != axes[0]:
        raise CannotBucket("it numbers the elements of padded rows")
    return trace.lower(node, [trace.filled(x, _least(np.dtype(x.value.dtype)))])


@pads(CumOp)
def accumulated(op, node, inputs, trace):
    """Return padding comes last, so that no row has anything of it."""
    (x,) = inputs
    if op.axis is None and x.ndim > 1:
        raise CannotBucket("it joins all dimensions")
    return x.with_value(*trace.lower(node, inputs))


@pads(Dot)
def product(op, node, inputs, trace):
    """Return the product; where the padded dimension is summed, both factors are zero."""
    return _product(node, inputs, trace, 0)


@pads(BatchedDot)
def batched_product(op, node, inputs, trace):
    return _product(node, inputs, trace, 1)


@pads(Blockwise)
def products(op, node, inputs, trace):
    if not isinstance(op.core_op, Dot):
        raise CannotBucket("there is no rule for padded rows")
    return _product(node, inputs, trace, op.batch_ndim(node))


def _product(node: Apply, inputs: list[Any], trace: Any, batch: int) -> Any:
    left, right = inputs = [trace.data(x) for x in inputs]
    parts = [x for x in inputs if isinstance(x, Padded)]
    if not parts:
        return trace.lower(node, inputs)
    summed = (np.ndim(_of(left)) - 1, max(np.ndim(_of(right)) - 2, batch))
    in_sum = [isinstance(x, Padded) and x.axis == k for x, k in zip(inputs, summed, strict=True)]
    if any(in_sum):
        if not all(in_sum):
            raise CannotBucket("only one factor has padding where they are summed")
        same_lengths(parts)
        return trace.lower(node, [trace.filled(x, 0) for x in inputs])
    if all(x.axis == parts[0].axis < batch for x in parts):
        if len(parts) < 2 and all(np.shape(_of(x))[parts[0].axis] != 1 for x in inputs):
            raise CannotBucket("only one factor has padding where both have a stack of matrices")
        same_lengths(parts)
        (value,) = trace.lower(node, inputs)
        return parts[0].with_value(value)
    if len(parts) > 1:
        raise CannotBucket("two dimensions of its result would be padded")
    (value,) = trace.lower(node, inputs)
    axis = left.axis if parts[0] is left else right.axis - 1 + np.ndim(_of(left)) - 1 - batch
    return parts[0].with_value(value, axis)


def _of(x: object) -> Any:
    return x.value if isinstance(x, Padded) else x


def reshaped(x: Padded, shapes: np.ndarray) -> Padded:
    """Rows in another shape, given for each combination of lengths."""
    before = int(np.prod(x.shape[: x.axis], dtype=int))
    elements = np.prod(np.delete(np.array(x.shape), x.axis), dtype=int) * x.lengths
    shapes = shapes.copy()
    for k in range(shapes.shape[1]):
        unknown = shapes[:, k] == -1
        others = np.prod(np.delete(shapes, k, axis=1), axis=1)
        shapes[unknown, k] = (elements // np.maximum(others, 1))[unknown]
    if (np.prod(shapes, axis=1) != elements).any():
        raise CannotBucket("it has another number of elements")
    varying = [k for k in range(shapes.shape[1]) if np.ptp(shapes[:, k])]
    if len(varying) != 1 or int(np.prod(shapes[-1, : varying[0]], dtype=int)) != before:
        raise CannotBucket("it splits padded rows")
    (axis,) = varying
    return Padded(x.value.reshape(shapes[-1]), axis, shapes[:, axis], x.is_zero)


@pads(Reshape)
def with_shape(op, node, inputs, trace):
    """Return the dimensions before the padded one stay, so that padding stays behind the rows."""
    x, lengths = inputs
    if not isinstance(x, Padded) or is_traced(lengths):
        raise CannotBucket("its shape varies, and what it reshapes is not padded")
    return reshaped(x, each_of(lengths, trace.cases).reshape(trace.cases, -1).astype("int64"))


@pads(JoinDims)
def dimensions_joined(op, node, inputs, trace):
    (x,) = inputs
    shapes = shape_each(x, trace.cases)
    first, end = op.start_axis, op.start_axis + op.n_axes
    joined = np.prod(shapes[:, first:end], axis=1, keepdims=True)
    return reshaped(x, np.concatenate([shapes[:, :first], joined, shapes[:, end:]], axis=1))


@pads(SplitDims)
def dimension_split(op, node, inputs, trace):
    x, lengths = inputs
    if not isinstance(x, Padded) or is_traced(lengths):
        raise CannotBucket("its shape varies, and what it reshapes is not padded")
    shapes = shape_each(x, trace.cases)
    new = each_of(lengths, trace.cases).reshape(trace.cases, -1)
    return reshaped(
        x, np.concatenate([shapes[:, : op.axis], new, shapes[:, op.axis + 1 :]], axis=1)
    )


@pads(Alloc, AllocEmpty, makes_arrays=True)
def allocated(op, node, inputs, trace):
    """Return an array of which a length varies: as long as the greatest."""
    first = 0 if isinstance(op, AllocEmpty) else 1
    filling = inputs[0] if first else 0
    lengths = [each_of(x, trace.cases) for x in inputs[first:] if not is_traced(x)]
    varying = [k for k, each in enumerate(lengths) if np.ptp(each)]
    if len(varying) != 1 or len(lengths) + first != len(inputs):
        raise CannotBucket("two dimensions of its result would be padded")
    (axis,) = varying
    if isinstance(filling, Padded):
        places_before = len(lengths) - filling.ndim
        if filling.axis + places_before != axis or (filling.lengths != lengths[axis]).any():
            raise CannotBucket("it repeats padded rows")
    elif (
        not isinstance(filling, Varying)
        and np.ndim(filling) >= len(lengths) - axis
        and np.shape(filling)[axis - len(lengths)] != 1
    ):
        raise CannotBucket("an array of which it is not known that it always has as many rows")
    (value,) = trace.lower(node, [*(trace.data(x) for x in inputs[:first]), *inputs[first:]])
    is_zero = not isinstance(filling, Padded | Varying) and _is_zero(filling)
    return Padded(value, axis, lengths[axis], is_zero)


def _is_zero(value: Any) -> bool:
    return not is_traced(value) and not np.any(value)


@pads(ARange, makes_arrays=True)
def numbers_in_steps(op, node, inputs, trace):
    """As many numbers as for the greatest length, from the same one on."""
    start, _, step = inputs
    if any(isinstance(x, Varying) for x in (start, step)) or any(map(is_traced, inputs)):
        raise CannotBucket("its first number, or its step, varies")
    ends = each_of(inputs[1], trace.cases)
    lengths = np.array([len(np.arange(start, end, step)) for end in ends])
    (value,) = trace.lower(node, inputs)
    return Padded(value, 0, lengths)


@pads(Join)
def joined(op, node, inputs, trace):
    """Along the padded dimension each array begins where the rows of the one before end."""
    given, arrays = axis_apart(node, inputs)
    axis = given
    if isinstance(axis, Varying) or is_traced(axis):
        raise CannotBucket("its dimension varies")
    arrays = [trace.data(x) for x in arrays]
    axis = int(axis) % node.outputs[0].type.ndim
    parts = [x for x in arrays if isinstance(x, Padded)]
    if not parts:
        return trace.lower(node, axis_among(node, given, arrays))
    if any(part.axis != axis for part in parts):
        if len(parts) < len(arrays) or len({part.axis for part in parts}) > 1:
            raise CannotBucket("not all that it joins has the same padding")
        same_lengths(parts)
        (value,) = trace.lower(node, axis_among(node, given, arrays))
        return parts[0].with_value(value)
    return _behind_each_other(node, given, arrays, axis, trace)


def _behind_each_other(
    node: Apply, which: object, arrays: list[Any], axis: int, trace: Any
) -> Padded:
    import jax.numpy as jnp
    from jax import lax

    (value,) = trace.lower(node, axis_among(node, which, arrays))
    ends = np.cumsum([shape_each(x, trace.cases)[:, axis] for x in arrays], axis=0)
    if any(isinstance(x, Padded) for x in arrays[:-1]):
        for x, start in zip(arrays[1:], ends[:-1], strict=True):
            part = jnp.asarray(_of(x), value.dtype)
            value = lax.dynamic_update_slice_in_dim(value, part, trace.number(start), axis)
    return Padded(value, axis, ends[-1])


@pads(OpFromGraph)
def inner_graph(op, node, inputs, trace):
    """Return the operations inside."""
    return trace.graph(op.fgraph, inputs)


@pads(SpecifyShape)
def specified(op, node, inputs, trace):
    """Check the shape without the padding."""
    x, *wanted = inputs
    if isinstance(x, Varying) or any(is_traced(n) for n in wanted):
        raise CannotBucket("a shape that varies is specified")
    shapes = shape_each(x, trace.cases)
    for axis, length in enumerate(wanted):
        if length is not None and (each_of(length, trace.cases) != shapes[:, axis]).any():
            raise CannotBucket("a length is specified that the dimension does not always have")
    return x


@pads(DeepCopyOp, TypeCastingOp)
def unchanged(op, node, inputs, trace):
    return inputs[0]


@pads(CheckAndRaise)
def checked(op, node, inputs, trace):
    """Conditions are of rows, not of padding."""
    value, *conditions = inputs
    conditions = [
        trace.filled(c, 1) if isinstance(c, Padded) else trace.data(c) for c in conditions
    ]
    trace.lower(node, [value, *conditions])
    return value
