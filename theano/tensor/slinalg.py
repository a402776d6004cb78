"""Linear algebra that SciPy does, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from functools import partial
from typing import Any

import pytensor.tensor as pt
from numpy.linalg import LinAlgError
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.linalg import (
    Cholesky,
    Eigvalsh,
    Expm,
    Solve,
    eigvalsh,
    expm,
    kron,
    solve,
    solve_triangular,
)
from pytensor.tensor.linalg import cholesky as _cholesky
from pytensor.tensor.variable import TensorVariable

from theano.tensor.linalg_gradients import CholeskyGrad, EigvalshGrad

solve_lower_triangular = partial(solve_triangular, lower=True)
solve_upper_triangular = partial(solve_triangular, lower=False)
solve_symmetric = partial(solve, assume_a="sym")


def cholesky(a: Any) -> TensorVariable:
    """Return the lower triangular factor of a symmetric, positive definite matrix.

    Raises
    ------
    LinAlgError
        When the function runs: the matrix is not positive definite.
    """
    factor = _cholesky(a)
    defined = CheckAndRaise(LinAlgError, "Matrix is not positive definite")
    return defined(factor, ~pt.isnan(factor).any())
