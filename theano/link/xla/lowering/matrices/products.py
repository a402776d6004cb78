"""Products of vectors, matrices and stacks of them, at the declared precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import MatrixInverse
from pytensor.tensor.math import Dot
from pytensor.tensor.type import tensor

from theano.link.xla.interpret import run_node
from theano.link.xla.lowering.matrices.inverses import inverses
from theano.link.xla.lowering.table import lowers, why_not
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
    check_repeated_lengths,
)


def product(x: Any, y: Any, dtype: str, context: Any, batched: int = 0) -> Any:
    """Sum over the last dimension of `x` and the first of `y` after `batched` common ones."""
    import jax.numpy as jnp
    from jax import lax

    inner, outer = np.shape(x)[-1], np.shape(y)[batched]
    if inner != outer:
        raise ValueError(
            f"shapes {np.shape(x)} and {np.shape(y)} not aligned: {inner} != {outer} "
            f"(dimension {np.ndim(x) - 1} of the first, {batched} of the second)"
        )
    common = tuple(range(batched))
    return lax.dot_general(
        jnp.asarray(x, dtype=dtype),
        jnp.asarray(y, dtype=dtype),
        (((np.ndim(x) - 1,), (batched,)), (common, common)),
        precision=context.precision,
    )


@lowers(Dot, Dot22)
def dot(op, node, inputs, context):
    """Return a product of two vectors or matrices."""
    return product(*inputs, node.outputs[0].type.dtype, context)


@lowers(Dot22Scalar)
def scaled_dot(op, node, inputs, context):
    """Return a product of two matrices and a number."""
    x, y, scale = inputs
    return product(x, y, node.outputs[0].type.dtype, context) * scale


@lowers(Gemm, Gemv)
def added_dot(op, node, inputs, context):
    """``beta * z + alpha * x.y``."""
    z, alpha, x, y, beta = inputs
    return beta * z + alpha * product(x, y, node.outputs[0].type.dtype, context)


@lowers(Ger)
def added_outer(op, node, inputs, context):
    """Return ``a + alpha * outer(x, y)``."""
    a, alpha, x, y = inputs
    return a + alpha * x[:, None] * y[None, :]


@lowers(BatchedDot)
def batched_dot(op, node, inputs, context):
    """Return a product for each of several pairs of matrices."""
    x, y = inputs
    if np.shape(x)[0] != np.shape(y)[0]:
        raise ValueError(
            f"{op}: expected as many matrices on both sides, got {np.shape(x)} and {np.shape(y)}"
        )
    return product(x, y, node.outputs[0].type.dtype, context, batched=1)


def _core_node(node) -> Any:
    """Return the operation on one element of the batch, on its own inputs."""
    op = node.op
    arrays = []
    for variable, dimensions in zip(node.inputs, op.inputs_sig, strict=True):
        kind = variable.type
        arrays.append(tensor(dtype=kind.dtype, shape=kind.shape[kind.ndim - len(dimensions) :]))
    return op.core_op.make_node(*arrays)


def _why_not(node) -> str | None:
    return why_not(_core_node(node))


@lowers(Blockwise, why_not=_why_not)
def on_each(op, node, inputs, context):
    """Return an operation on arrays, for each of the leading dimensions."""
    import jax
    import jax.numpy as jnp

    check_repeated_lengths(node, inputs)
    core = _core_node(node)
    ndims = [len(dimensions) for dimensions in op.inputs_sig]
    batches = [np.shape(x)[: np.ndim(x) - n] for x, n in zip(inputs, ndims, strict=True)]
    batch = np.broadcast_shapes(*batches)
    if isinstance(op.core_op, Dot) and ndims == [2, 2]:
        return matrix_products(*inputs, node.outputs[0].type.dtype, context)
    if isinstance(op.core_op, MatrixInverse):
        return inverses(*inputs, node.outputs[0].type.dtype, context)
    values, batched = [], []
    for k, (x, own, n) in enumerate(zip(inputs, batches, ndims, strict=True)):
        core_shape = np.shape(x)[np.ndim(x) - n :]
        if set(own) <= {1}:
            values.append(x.reshape(core_shape))
        else:
            values.append(jnp.broadcast_to(x, (*batch, *core_shape)).reshape(-1, *core_shape))
            batched.append(k)

    def each(*elements: object) -> list[Any]:
        given = list(values)
        for k, element in zip(batched, elements, strict=True):
            given[k] = element
        return [jnp.asarray(result) for result in run_node(core, given, context)]

    if not batched:
        return [result.reshape(*batch, *result.shape) for result in each()]
    results = jax.vmap(each)(*(values[k] for k in batched))
    return [result.reshape(*batch, *result.shape[1:]) for result in results]


def matrix_products(x: Any, y: Any, dtype: str, context: Any) -> Any:
    """Products of stacks of matrices."""
    import jax.numpy as jnp

    if np.shape(x)[-1] != np.shape(y)[-2]:
        raise ValueError(
            f"matmul: shapes {np.shape(x)} and {np.shape(y)} not aligned: "
            f"{np.shape(x)[-1]} != {np.shape(y)[-2]}"
        )
    x, y = jnp.asarray(x, dtype=dtype), jnp.asarray(y, dtype=dtype)
    return jnp.matmul(x, y, precision=context.precision)
