"""Linear algebra that SciPy does, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from functools import partial

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

# Theano raises LinAlgError for a matrix that is not positive definite; PyTensor gives NaN.
cholesky = partial(_cholesky, on_error="raise")
solve_lower_triangular = partial(solve_triangular, lower=True)
solve_upper_triangular = partial(solve_triangular, lower=False)
solve_symmetric = partial(solve, assume_a="sym")
