"""Linear algebra, for which Theano had operators of devices: the host's run there."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike

from theano.tensor import nlinalg, slinalg
from theano.tensor.nlinalg import matrix_inverse as gpu_matrix_inverse
from theano.tensor.slinalg import Cholesky as GpuCholesky

__all__ = [
    "GpuCholesky",
    "gpu_cholesky",
    "gpu_matrix_inverse",
    "gpu_qr",
    "gpu_solve",
    "gpu_solve_lower_triangular",
    "gpu_solve_upper_triangular",
    "gpu_svd",
]


def gpu_cholesky(A: TensorLike, lower: bool = True) -> Any:
    """Return the Cholesky factor of a positive definite matrix.

    Parameters
    ----------
    A : matrix of shape (n, n)
    lower : bool
        Whether ``L`` of ``A = L L.T`` is returned, or ``U`` of ``A = U.T U``.
    """
    return GpuCholesky.make(lower)(A)


def gpu_solve(A: TensorLike, b: TensorLike, A_structure: str = "general", trans: str = "N") -> Any:
    """Return the solution of a system of equations.

    Parameters
    ----------
    A : matrix of shape (n, n)
    b : vector of shape (n,), or matrix of shape (n, k)
    A_structure : {'general', 'symmetric', 'lower', 'upper'}
        What is known of `A`: of a triangular matrix only one half is read, and a symmetric one is
        positive definite.
    trans : {'N', 'T', 'C'}
        Whether `A` is transposed first.

    Returns
    -------
    tensor of the shape of `b`

    Raises
    ------
    ValueError
        Another structure, or another `trans`.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> from theano.gpuarray.linalg import gpu_solve
    >>> gpu_solve(T.constant([[2.0, 0.0], [1.0, 1.0]]), T.constant([2.0, 3.0])).eval().tolist()
    [1.0, 2.0]
    """
    if A_structure == "lower":
        return gpu_solve_lower_triangular(A, b, trans)
    if A_structure == "upper":
        return gpu_solve_upper_triangular(A, b, trans)
    kinds = {"general": "gen", "symmetric": "pos"}
    if A_structure not in kinds:
        raise ValueError(
            "gpu_solve: expected A_structure 'general', 'symmetric', 'lower' or 'upper', "
            f"got {A_structure!r}"
        )
    b = pt.as_tensor_variable(b)
    return slinalg.solve(
        _transposed("gpu_solve", A, trans), b, assume_a=kinds[A_structure], b_ndim=b.ndim
    )


def gpu_solve_lower_triangular(A: TensorLike, b: TensorLike, trans: str = "N") -> Any:
    """Return the solution of a system with a lower triangular matrix: see `gpu_solve`."""
    matrix = _transposed("gpu_solve_lower_triangular", A, trans)
    b = pt.as_tensor_variable(b)
    return slinalg.solve_triangular(matrix, b, lower=trans == "N", b_ndim=b.ndim)


def gpu_solve_upper_triangular(A: TensorLike, b: TensorLike, trans: str = "N") -> Any:
    """Return the solution of a system with an upper triangular matrix: see `gpu_solve`."""
    matrix = _transposed("gpu_solve_upper_triangular", A, trans)
    b = pt.as_tensor_variable(b)
    return slinalg.solve_triangular(matrix, b, lower=trans != "N", b_ndim=b.ndim)


def _transposed(name: str, A: Any, trans: str) -> Any:
    """Return the matrix of a system, transposed where that is asked for."""
    if trans not in ("N", "T", "C"):
        raise ValueError(f"{name}: expected trans 'N', 'T' or 'C', got {trans!r}")
    matrix = pt.as_tensor_variable(A)
    if trans == "N":
        return matrix
    return matrix.T if trans == "T" else pt.conj(matrix).T


def gpu_svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition of a matrix.

    Parameters
    ----------
    a : matrix of shape (m, n)
    full_matrices : bool
        Whether the outer factors are square.
    compute_uv : bool
        Whether they are returned besides the singular values.

    Returns
    -------
    list of variables ``[U, S, V.T]``, or the singular values alone
    """
    return nlinalg.svd(a, full_matrices, compute_uv)


def gpu_qr(a: TensorLike, complete: bool = True) -> Any:
    """Return the factors ``[Q, R]`` of a matrix, or R alone if not `complete`."""
    return nlinalg.qr(a, mode="reduced" if complete else "r")
