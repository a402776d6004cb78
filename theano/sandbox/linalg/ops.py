"""A bound and a rewrite of linear algebra, and the operators, where old programs look for them."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor.tensor.math import Dot
from pytensor.tensor.variable import TensorVariable

from theano.gof.opt import local_optimizer
from theano.pytensor_internals.operations.tensor import Dot22
from theano.tensor.nlinalg import (
    MatrixInverse,
    alloc_diag,
    det,
    extract_diag,
    matrix_inverse,
    trace,
)
from theano.tensor.slinalg import Cholesky, Solve, cholesky, solve

# In Theano, False without SciPy.
imported_scipy = True


@local_optimizer([Dot, Dot22])
def inv_as_solve(node):
    """Replace the product with an inverse by the solution of a system."""
    left, right = node.inputs
    if _is_inverse(left):
        return [solve(left.owner.inputs[0], right)]
    if _is_inverse(right):
        return [solve(right.owner.inputs[0].T, left.T).T]
    return False


def _is_inverse(variable) -> bool:
    op = None if variable.owner is None else variable.owner.op
    # PyTensor applies it to the matrices of a batch, be it of one.
    return isinstance(getattr(op, "core_op", op), MatrixInverse)


def spectral_radius_bound(X: Any, log2_exponent: int) -> TensorVariable:
    """Bound the largest eigenvalue of a symmetric, positive semidefinite matrix from above.

    Parameters
    ----------
    X : square matrix
    log2_exponent : int
        How often the matrix is squared: the bound gets tighter, and costs a product each time.

    Returns
    -------
    scalar
        The trace of the power ``2**log2_exponent`` of `X`, to the power of its inverse: V. Pan,
        Estimating the extremal eigenvalues of a symmetric matrix, Computers & Mathematics with
        Applications 20 (1990), 17-22.

    Raises
    ------
    TypeError
        `X` is no matrix, or `log2_exponent` no integer.
    ValueError
        `log2_exponent` is not positive.
    """
    if X.type.ndim != 2:
        raise TypeError(f"spectral_radius_bound: expected a matrix, got {X.type}")
    if not isinstance(log2_exponent, int):
        raise TypeError(f"spectral_radius_bound: expected an integer, got {log2_exponent!r}")
    if log2_exponent <= 0:
        raise ValueError(f"spectral_radius_bound: expected a positive one, got {log2_exponent}")
    power = X
    for _ in range(log2_exponent):
        power = power.dot(power)
    return trace(power) ** (2.0**-log2_exponent)
