"""Linear algebra that NumPy does, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from functools import reduce
from operator import index
from typing import Any

from pytensor.tensor import TensorLike
from pytensor.tensor.basic import ExtractDiag, alloc_diag, as_tensor_variable, diag, trace
from pytensor.tensor.basic import diagonal as extract_diag
from pytensor.tensor.linalg import (
    SVD,
    Det,
    Eig,
    Eigh,
    MatrixInverse,
    MatrixPinv,
    TensorInv,
    TensorSolve,
    det,
    matrix_inverse,
    norm,
    pinv,
    svd,
    tensorinv,
    tensorsolve,
)
from pytensor.tensor.linalg import Lstsq as _PyTensorLstsq
from pytensor.tensor.linalg import eigh as _eigh
from pytensor.tensor.linalg import matrix_power as _matrix_power
from pytensor.tensor.math import dot as _dot
from pytensor.tensor.math import minimum

from theano.gof.stand_in import StandIn
from theano.tensor.linear_algebra.gradients import EighGrad, _zero_disconnected
from theano.tensor.linear_algebra.orthogonal_factors import orthogonal_factors
from theano.tensor.old.operators import AllocDiag

eig = Eig()


class lstsq(metaclass=StandIn, made=_PyTensorLstsq):
    """The solution of least squares: ``lstsq()(x, y, rcond)``, with residuals, rank and spectrum."""

    @staticmethod
    def make() -> _PyTensorLstsq:
        return _PyTensorLstsq()


def matrix_dot(*args: object):
    """Return the product of matrices, from the left to the right."""
    return reduce(_dot, args)


def eigh(a: TensorLike, UPLO: str = "L"):
    """Return the eigenvalues and eigenvectors of a symmetric matrix.

    Parameters
    ----------
    a : matrix
    UPLO : {'L', 'U'}
        Which triangle of it is read.
    """
    if UPLO not in ("L", "U"):
        raise AssertionError(f"eigh: expected UPLO to be 'L' or 'U', got {UPLO!r}")
    return _eigh(a, lower=UPLO == "L")


def matrix_power(M: object, n: int):
    """Return a matrix multiplied by itself `n` times, its inverse where `n` is negative."""
    try:
        return _matrix_power(M, index(n))
    except TypeError:
        raise TypeError(f"matrix_power: expected an integer, got {n!r}") from None


def qr(a: TensorLike, mode: str = "reduced"):
    """Return the factors Q and R of a matrix; only R where `mode` is ``'r'``.

    Parameters
    ----------
    a : matrix of shape (M, N)
    mode : {'reduced', 'complete', 'r'}
        The factors' shapes: (M, K) and (K, N) with K = min(M, N), or (M, M) and (M, N); where only
        R is returned, (K, N).
    """
    a = as_tensor_variable(a)
    if mode == "r":
        return orthogonal_factors(a, "r")[..., : minimum(a.shape[-2], a.shape[-1]), :]
    return orthogonal_factors(a, {"reduced": "economic", "complete": "full"}.get(mode, mode))
