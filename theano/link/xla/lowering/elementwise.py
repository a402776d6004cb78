"""Element-wise operations, with the broadcasting that Theano allows, and changes of dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.scalar.basic import Add, Composite, ScalarOp
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from theano.link.xla.interpret import interpret
from theano.link.xla.lowering.scalars import applied, is_known
from theano.link.xla.lowering.table import lowers
from theano.pytensor_internals.operations.tensor import check_repeated_lengths


def _why_not(node) -> str | None:
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    return None if is_known(op) else f"there is no lowering for {op} of numbers"


@lowers(Elemwise, why_not=_why_not)
def elementwise(op, node, inputs, context):
    """Return an operation on numbers for each element; lengths 1 repeat where the type says so."""
    shapes = [np.shape(value) for value in inputs]
    if len({*shapes}) > 1:
        check_repeated_lengths(node, inputs)
    shape = np.broadcast_shapes(*shapes)
    if isinstance(op.scalar_op, Add) and any(v in context.zeros for v in node.inputs):
        # the rewrite that leaves out zeros does not see them in a step
        kept = [x for x, v in zip(inputs, node.inputs, strict=True) if v not in context.zeros]
        if len(kept) == 1 and kept[0].shape == shape:
            return [kept[0].astype(node.outputs[0].type.dtype)]
    return _on_arrays(op.scalar_op, node, inputs, shape, context)


@lowers(ScalarOp, why_not=_why_not)
def on_numbers(op, node, inputs, context):
    """Return an operation on numbers, or inside a Composite on arrays that are traced as numbers."""
    shape = np.broadcast_shapes(*(np.shape(value) for value in inputs))
    return _on_arrays(op, node, inputs, shape, context)


def _on_arrays(op, node, inputs, shape: tuple[int, ...], context) -> Any:
    arrays = [_of_shape(x, v, shape) for x, v in zip(inputs, node.inputs, strict=True)]
    if isinstance(op, Composite):
        return interpret(op.fgraph, arrays, context)
    return applied(op, node.outputs[0].type.dtype, arrays)


def _of_shape(value: object, variable, shape: tuple[int, ...]) -> Any:
    import jax.numpy as jnp
    from jax import lax

    value = jnp.asarray(value, dtype=variable.type.dtype)
    if value.shape == shape:
        return value
    first = len(shape) - value.ndim
    kept = [k for k in range(value.ndim) if value.shape[k] == shape[first + k]]
    value = value.reshape([value.shape[k] for k in kept])
    return lax.broadcast_in_dim(value, shape, [first + k for k in kept])


@lowers(DimShuffle)
def dimensions_changed(op, node, inputs, context):
    """Dimensions in another order, with new ones of length 1 and without old ones."""
    import jax.numpy as jnp

    (x,) = inputs
    for axis in op.drop:
        if x.shape[axis] != 1:
            raise ValueError(
                f"DimShuffle: dimension {axis} is to be dropped and has length {x.shape[axis]}"
            )
    turned = jnp.transpose(x, [*op.shuffle, *op.drop])
    lengths = [1 if axis == "x" else x.shape[axis] for axis in op.new_order]
    return turned.reshape(lengths)


@lowers(TensorFromScalar, ScalarFromTensor)
def same_number(op, node, inputs, context):
    """Return the same number as another type."""
    return inputs[0]
