"""Systems of equations, of which the matrix has the form that the operation supposes."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.linalg import Solve

from theano.link.xla.lowering.matrices.triangles import mirrored
from theano.link.xla.lowering.table import by_pytensor, lowers
from theano.tensor.linear_algebra.solved_systems import SolveOrNaN


@lowers(Solve, SolveOrNaN)
def solution(op, node, inputs, context):
    """Return the solution; NaN where there is none, or where a matrix is not positive definite."""
    import jax.numpy as jnp

    if op.assume_a == "tridiagonal":
        return by_pytensor(op, node, inputs, context)
    dtype = node.outputs[0].type.dtype
    matrix, right = (jnp.asarray(x, dtype) for x in inputs)
    if op.assume_a in ("sym", "her", "pos"):
        matrix = mirrored(matrix, op.lower, conjugate=op.assume_a != "sym")
    solve = _by_cholesky if op.assume_a == "pos" else _by_lu
    return solve(matrix, right)


def _by_cholesky(matrix: Any, right: Any) -> Any:
    from jax import lax
    from jax.scipy.linalg import cho_solve

    return cho_solve((lax.linalg.cholesky(matrix, symmetrize_input=False), True), right)


def _by_lu(matrix: object, right: object) -> Any:
    import jax.numpy as jnp
    from jax.scipy.linalg import lu_factor, lu_solve

    factors = lu_factor(matrix)
    singular = (jnp.diag(factors[0]) == 0).any()
    return jnp.where(singular, jnp.nan, lu_solve(factors, right))
