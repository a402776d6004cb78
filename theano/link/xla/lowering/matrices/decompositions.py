"""Factors and eigenvalues of a matrix: of Hermitian ones from the triangle that is given."""

from __future__ import annotations

from pytensor.tensor.linalg import QR, Cholesky, Eigh, Eigvalsh

from theano.link.xla.context import CannotLower
from theano.link.xla.lowering.matrices.triangles import mirrored
from theano.link.xla.lowering.table import lowers


@lowers(Cholesky)
def cholesky(op, node, inputs, context):
    """Return the triangular factor; NaN where the matrix is not positive definite."""
    import jax.numpy as jnp
    from jax import lax

    (matrix,) = inputs
    given = jnp.asarray(matrix if op.lower else matrix.conj().T, node.outputs[0].type.dtype)
    factor = jnp.tril(lax.linalg.cholesky(given, symmetrize_input=False))
    factor = jnp.where(jnp.isnan(factor).any(), jnp.nan, factor)
    return factor if op.lower else factor.conj().T


def _not_of_two(node) -> str | None:
    return "eigenvalues of a matrix relative to another" if len(node.inputs) > 1 else None


@lowers(Eigh, why_not=_not_of_two)
def eigenvalues_and_vectors(op, node, inputs, context):
    """Return the eigenvalues in ascending order, and the eigenvectors."""
    import jax.numpy as jnp

    matrix = jnp.asarray(inputs[0], node.outputs[1].type.dtype)
    return list(jnp.linalg.eigh(mirrored(matrix, op.lower), symmetrize_input=False))


@lowers(Eigvalsh, why_not=_not_of_two)
def eigenvalues(op, node, inputs, context):
    """Return the eigenvalues in ascending order."""
    import jax.numpy as jnp

    return jnp.linalg.eigvalsh(mirrored(jnp.asarray(inputs[0]), op.lower))


@lowers(QR)
def orthogonal_and_triangular(op, node, inputs, context):
    """Return the orthogonal and the triangular factor, or only this."""
    import jax.numpy as jnp

    if op.pivoting or op.mode == "raw":
        raise CannotLower("QR with pivots" if op.pivoting else "QR in LAPACK's own form")
    mode = {"economic": "reduced", "full": "complete"}.get(op.mode, op.mode)
    found = jnp.linalg.qr(inputs[0], mode=mode)
    return [found] if op.mode == "r" else list(found)
