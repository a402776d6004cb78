"""Shapes, which tracing knows; arrays made from lengths; joining and splitting."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.op import Op
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    ARange,
    Eye,
    Join,
    MakeVector,
    Split,
)
from pytensor.tensor.extra_ops import Bartlett, CpuContiguous, Repeat
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

from theano.link.xla.context import CannotLower, is_traced
from theano.link.xla.interpret import performed
from theano.link.xla.lowering.table import lowers
from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.operations.axes import axis_apart, positions_with_axis
from theano.pytensor_internals.operations.tensor import JoinDims, SplitDims

# Arrays of at most so many elements stay concrete; larger ones are no constants of the program.
SMALL = 64


@lowers(Shape)
def shape(op, node, inputs, context):
    """Return the lengths of all dimensions, concrete."""
    return np.array(np.shape(inputs[0]), dtype="int64")


@lowers(Shape_i)
def length(op, node, inputs, context):
    """Return the length of one dimension, concrete."""
    return np.asarray(np.shape(inputs[0])[op.i], dtype="int64")


@lowers(DeepCopyOp, TypeCastingOp, CpuContiguous)
def unchanged(op, node, inputs, context):
    """Traced values are never written to, so that none needs a copy."""
    return inputs[0]


@lowers(SpecifyShape)
def specified(op, node, inputs, context):
    """Return the same array, of which the shape is checked."""
    x, *wanted = inputs
    lengths = [None if n is None else _integer(n, op) for n in wanted]
    if any(n is not None and n != m for n, m in zip(lengths, np.shape(x), strict=True)):
        raise AssertionError(f"SpecifyShape: Got shape {np.shape(x)}, expected {tuple(lengths)}.")
    return x


def _length(value: object, op: Op) -> int:
    """Return a length as a number; XLA's own complaint about a negative one is a TypeError."""
    length = _integer(value, op)
    if length < 0:
        raise ValueError(f"{op}: negative dimensions are not allowed, got {length}")
    return length


def _integer(value: Any, op: Op) -> int:
    if is_traced(value):
        raise CannotLower(f"a length of {op} that is computed on the device")
    return int(value)


@lowers(Reshape, concrete=(1,))
def reshaped(op, node, inputs, context):
    """Return the elements in the same order in another shape; one length may be -1."""
    x, lengths = inputs
    shape = [_integer(n, op) for n in lengths]
    if len(shape) != op.ndim:
        raise ValueError(f"Shape argument to Reshape has incorrect length: {shape}, not {op.ndim}")
    return _with_shape(x, shape)


def _with_shape(x: Any, shape: list[int]) -> Any:
    known = math.prod(n for n in shape if n != -1)
    fits = x.size % known == 0 if -1 in shape and known else x.size == known
    if not fits or shape.count(-1) > 1 or (-1 in shape and not known):
        raise ValueError(f"Cannot reshape array of shape {np.shape(x)} into shape {tuple(shape)}")
    return x.reshape(shape)


@lowers(JoinDims)
def dimensions_joined(op, node, inputs, context):
    """Return some dimensions as one."""
    (x,) = inputs
    first, end = op.start_axis, op.start_axis + op.n_axes
    return x.reshape(*x.shape[:first], math.prod(x.shape[first:end]), *x.shape[end:])


@lowers(SplitDims, concrete=(1,))
def dimension_split(op, node, inputs, context):
    """One dimension as several."""
    x, lengths = inputs
    before, after = x.shape[: op.axis], x.shape[op.axis + 1 :]
    return _with_shape(x, [*before, *(_integer(n, op) for n in lengths), *after])


def _lengths(node) -> range:
    return range(1, len(node.inputs))


@lowers(Alloc, concrete=_lengths, even_if_concrete=True)
def allocated(op, node, inputs, context):
    """Return a value repeated along dimensions of given lengths."""
    import jax.numpy as jnp

    value, *lengths = inputs
    shape = tuple(_length(n, op) for n in lengths)
    if not is_traced(value) and math.prod(shape) <= SMALL:
        return performed(node, inputs)
    own = (1,) * (len(shape) - np.ndim(value)) + np.shape(value)
    runtime_one = [
        axis
        for axis, broadcast in enumerate(node.inputs[0].type.broadcastable)
        if not broadcast
        and own[len(shape) - np.ndim(value) + axis] == 1
        and shape[len(shape) - np.ndim(value) + axis] != 1
    ]
    if runtime_one:
        raise ValueError(
            "Alloc: Runtime broadcasting not allowed. A value of length 1 along dimension "
            f"{runtime_one[0]} was given for shape {shape}, and its type does not say 1"
        )
    if any(m not in (1, n) for m, n in zip(own, shape, strict=True)):
        raise ValueError(f"Alloc: cannot broadcast shape {np.shape(value)} to shape {shape}")
    return jnp.broadcast_to(jnp.asarray(value, dtype=node.outputs[0].type.dtype), shape)


@lowers(AllocEmpty, concrete=lambda node: range(len(node.inputs)), even_if_concrete=True)
def empty(op, node, inputs, context):
    """Memory that will be written to; XLA has none without a value."""
    import jax.numpy as jnp

    return jnp.zeros([_length(n, op) for n in inputs], dtype=op.dtype)


@lowers(ARange, concrete=(0, 1, 2), even_if_concrete=True)
def numbers(op, node, inputs, context):
    """Numbers in equal steps."""
    import jax.numpy as jnp
    from jax import lax

    if any(is_traced(value) for value in inputs):
        raise CannotLower("a range whose length is computed on the device")
    start, stop, step = (np.asarray(value).item() for value in inputs)
    count = len(np.arange(start, stop, step)) if step else 0
    if count <= SMALL or not np.issubdtype(op.dtype, np.integer):
        return performed(node, inputs)
    return jnp.asarray(start, op.dtype) + jnp.asarray(step, op.dtype) * lax.iota(op.dtype, count)


@lowers(Eye, concrete=(0, 1, 2), even_if_concrete=True)
def identity(op, node, inputs, context):
    """Ones on a diagonal."""
    import jax.numpy as jnp

    rows, columns, diagonal = (_integer(n, op) for n in inputs)
    return jnp.eye(rows, columns, diagonal, dtype=op.dtype)


@lowers(MakeVector)
def vector(op, node, inputs, context):
    """Numbers as a vector."""
    import jax.numpy as jnp

    return jnp.stack([jnp.asarray(value, dtype=op.dtype) for value in inputs])


@lowers(Join, concrete=positions_with_axis(Join))
def joined(op, node, inputs, context):
    """Arrays behind each other along a dimension."""
    import jax.numpy as jnp

    axis, arrays = axis_apart(node, inputs)
    axis = _integer(axis, op)
    ndim = node.outputs[0].type.ndim
    if not -ndim <= axis < ndim:
        raise ValueError(f"Join: expected an axis below {ndim}, got {axis}")
    shapes = [np.delete(np.shape(x), axis).tolist() for x in arrays]
    if any(other != shapes[0] for other in shapes):
        raise ValueError(
            "Join: all the input array dimensions except for the concatenation axis must match "
            f"exactly, got shapes {[np.shape(x) for x in arrays]} along axis {axis}"
        )
    dtype = node.outputs[0].type.dtype
    return jnp.concatenate([jnp.asarray(x, dtype=dtype) for x in arrays], axis)


@lowers(Split, concrete=positions_with_axis(Split, (1,)))
def split(op, node, inputs, context):
    """Return the parts of an array along a dimension."""
    axis, (x, sizes) = axis_apart(node, inputs)
    axis, lengths = _integer(axis, op), [_integer(n, op) for n in sizes]
    if len(lengths) != op.len_splits or min(lengths, default=0) < 0:
        raise ValueError(f"Split: expected {op.len_splits} lengths, none below 0, got {lengths}")
    if sum(lengths) != x.shape[axis]:
        raise ValueError(f"Split: lengths {lengths} do not add up to {x.shape[axis]}")
    ends = np.cumsum([0, *lengths])
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(a, b))] for a, b in itertools.pairwise(ends)]


@lowers(Repeat, concrete=(1,))
def repeated(op, node, inputs, context):
    """Each element several times."""
    import jax.numpy as jnp

    x, repeats = inputs
    # their sums may not fit into their own dtype
    counts = np.asarray(repeats, dtype="int64")
    of_axis = x.size if op.axis is None else x.shape[op.axis]
    if counts.ndim and len(counts) != of_axis:
        raise ValueError(f"Repeat: expected {of_axis} numbers of repeats, got {len(counts)}")
    total = int(counts.sum()) if counts.ndim else int(counts) * of_axis
    return jnp.repeat(x, counts, axis=op.axis, total_repeat_length=total)


@lowers(Bartlett, concrete=(0,))
def bartlett(op, node, inputs, context):
    """Return a window of a length that is known, and so concrete."""
    raise CannotLower("a window whose length is computed on the device")
