"""Matrix products in C, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

import theano.pytensor_internals.operations.tensor_rewrites
from theano.pytensor_internals.operations.tensor import (
    BaseBLAS,
    CGemv,
    CGer,
    cgemv_inplace,
    cgemv_no_inplace,
    cger_inplace,
    cger_no_inplace,
)
from theano.pytensor_internals.operations.tensor import (
    must_initialize_y_gemv as check_force_gemv_init,
)
