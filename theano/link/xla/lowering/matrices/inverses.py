"""Inverses of matrices, and of stacks of them."""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError
from pytensor.tensor.linalg import MatrixInverse

from theano.link.xla.lowering.table import lowers


@lowers(MatrixInverse)
def inverse(op, node, inputs, context):
    """Return the inverse of a matrix; LinAlgError if it is singular."""
    return inverses(inputs[0], node.outputs[0].type.dtype, context)


def inverses(matrices: object, dtype: str, context: Any) -> Any:
    """Return the inverses along the last two dimensions.

    Those of singular matrices, which LAPACK refuses, come from divisions by zero.
    """
    import jax.numpy as jnp

    matrices = jnp.asarray(matrices, dtype=dtype)
    found = jnp.linalg.inv(matrices)
    given = jnp.isfinite(matrices).all(axis=(-2, -1))
    exist = jnp.isfinite(found).all(axis=(-2, -1))
    context.require((exist | ~given).all(), LinAlgError("Singular matrix"))
    return found
