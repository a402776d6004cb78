"""Linear algebra, at the place where old programs look for it."""
# ruff: noqa: F401 -- this file re-exports

from theano.sandbox.linalg.ops import spectral_radius_bound
from theano.tensor.nlinalg import (
    alloc_diag,
    det,
    diag,
    eig,
    eigh,
    extract_diag,
    matrix_dot,
    matrix_inverse,
    matrix_power,
    pinv,
    qr,
    svd,
    trace,
)
from theano.tensor.slinalg import cholesky, eigvalsh, expm, kron, solve
