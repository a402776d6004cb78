"""Matrices of which one triangle is given."""

from __future__ import annotations

from typing import Any


def mirrored(matrix: Any, lower: bool, conjugate: bool = True) -> Any:
    """Return the matrix that has the given triangle and, in the other one, the same or its conjugate."""
    import jax.numpy as jnp

    given = jnp.tril(matrix) if lower else jnp.triu(matrix)
    apart = given - jnp.diag(jnp.diag(given))
    other = (apart.conj() if conjugate else apart).T
    diagonal = jnp.diag(given).real.astype(matrix.dtype) if conjugate else jnp.diag(given)
    return apart + other + jnp.diag(diagonal)
