"""Matrix products, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.blas import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
    gemm_inplace,
    gemm_no_inplace,
    gemv_inplace,
    gemv_no_inplace,
    ger,
    ger_destructive,
    ldflags,
)
from pytensor.tensor.blas import _dot22 as _dot22
from pytensor.tensor.blas import _dot22scalar as _dot22scalar

from theano.tensor.batched import batched_dot, batched_tensordot
