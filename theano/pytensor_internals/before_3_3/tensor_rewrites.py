"""Rewrites of PyTensor 3.0 that 3.3 has elsewhere, by another name, or no longer."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.rewriting.blas import (
    local_dot22_to_ger_or_gemv,
    local_gemm_to_ger,
    local_inplace_ger,
)
from pytensor.tensor.rewriting.linalg.decomposition import svd_of_diag
from pytensor.tensor.rewriting.math import local_log_add_exp, local_log_sqrt, local_log_sum_exp

# reductions of filled arrays are computed from the value since 3.3
local_careduce_of_alloc = None
# `slogdet_specialization` gives a stack of matrices to an operator of one
LOGARITHMS_OF_STACKS = False
