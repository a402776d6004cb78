"""Linear algebra that SciPy does, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from collections.abc import Callable
from functools import partial
from typing import Any

from pytensor.tensor import TensorLike
from pytensor.tensor.linalg import Cholesky as _PyTensorCholesky
from pytensor.tensor.linalg import (
    Eigvalsh,
    Expm,
    expm,
    kron,
)
from pytensor.tensor.linalg import Solve as _PyTensorSolve
from pytensor.tensor.linalg import cholesky as _cholesky
from pytensor.tensor.linalg import eigvalsh as _eigvalsh
from pytensor.tensor.linalg import solve_triangular as _solve_triangular
from pytensor.tensor.type_other import NoneTypeT
from pytensor.tensor.variable import TensorVariable

from theano.gof.stand_in import StandIn
from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.linear_algebra.checked_results import checked_factor, finite_solution
from theano.tensor.linear_algebra.gradients import CholeskyGrad, EigvalshGrad
from theano.tensor.linear_algebra.solved_systems import solution_or_nan


def solve(a: TensorLike, b: TensorLike, **options: object) -> TensorVariable:
    """Return the solution x of ``a.dot(x) == b``.

    Parameters
    ----------
    a : matrix of shape (M, M), or a stack of them
    b : vector of shape (M,), or matrix of shape (M, K)
    options
        Those of `scipy.linalg.solve`, such as ``assume_a``, and ``b_ndim``, the number of
        dimensions of a right side.

    Raises
    ------
    LinAlgError
        When the function runs, or one of its gradients: the matrix is singular.
    """
    return finite_solution(solution_or_nan(a, b, **options))


def solve_triangular(a: Any, b: Any, **options: Any) -> TensorVariable:
    """Return the solution x of ``a.dot(x) == b`` for a triangular matrix.

    Parameters
    ----------
    a : matrix of shape (M, M), or a stack of them
        Read where `lower` says, which is False by default.
    b : vector of shape (M,), or matrix of shape (M, K)
    options
        Those of `scipy.linalg.solve_triangular`, and ``b_ndim``, the number of dimensions of a
        right side.

    Raises
    ------
    LinAlgError
        When the function runs, or one of its gradients: there is a zero on the diagonal.
    """
    return finite_solution(_solve_triangular(a, b, **options))


solve_lower_triangular = partial(solve_triangular, lower=True)
solve_upper_triangular = partial(solve_triangular, lower=False)
solve_symmetric = partial(solve, assume_a="sym")


# What Theano calls the structures of a matrix, and SciPy's name and the triangle it reads.
_STRUCTURES = {
    "general": ("gen", None),
    "symmetric": ("sym", None),
    "lower_triangular": ("lower triangular", True),
    "upper_triangular": ("upper triangular", False),
}


class Cholesky(metaclass=StandIn, made=_PyTensorCholesky):
    """The triangular factor of a symmetric, positive definite matrix.

    Parameters
    ----------
    lower : bool
        Whether the factor is lower triangular.
    on_error : {'raise', 'nan'}
        What to do where the matrix is not positive definite: raise LinAlgError when the function
        runs, or return a matrix of NaN.
    """

    @staticmethod
    def make(lower: bool = True, on_error: str = "raise") -> Callable[[Any], TensorVariable]:
        if on_error not in ("raise", "nan"):
            raise ValueError(f"Cholesky: expected on_error 'raise' or 'nan', got {on_error!r}")
        if on_error == "nan":
            return partial(_cholesky, lower=lower)
        return lambda a: checked_factor(_cholesky(a, lower=lower))


def cholesky(a: TensorLike) -> TensorVariable:
    """Return the lower triangular factor of a symmetric, positive definite matrix.

    Raises
    ------
    LinAlgError
        When the function runs: the matrix is not positive definite.
    """
    return checked_factor(_cholesky(a))


class Solve(metaclass=StandIn, made=_PyTensorSolve):
    """The solution x of ``a.dot(x) == b``: ``Solve(A_structure)(a, b)``.

    Parameters
    ----------
    A_structure : {'general', 'symmetric', 'lower_triangular', 'upper_triangular'}
        What is known of the matrix.
    lower : bool
        Which triangle of a symmetric matrix is read.

    Raises
    ------
    ValueError
        Another structure.
    """

    @staticmethod
    def make(
        A_structure: str = "general",
        lower: bool = False,
        overwrite_A: bool = False,
        overwrite_b: bool = False,
    ) -> Callable[[Any, Any], TensorVariable]:
        if A_structure not in _STRUCTURES:
            raise ValueError(
                f"Solve: expected one of {', '.join(_STRUCTURES)} as A_structure, "
                f"got {A_structure!r}"
            )
        assumed, triangle = _STRUCTURES[A_structure]
        return partial(solve, assume_a=assumed, lower=lower if triangle is None else triangle)


def eigvalsh(a: Any, b: Any = None, lower: bool = True) -> TensorVariable:
    """Return the eigenvalues of a symmetric matrix, or of the problem ``a v == w b v``."""
    if isinstance(getattr(b, "type", None), NoneTypeT):
        b = None
    return known_tensor(_eigvalsh(a, b, lower=lower))
