"""Rewrites of sparse operators and the operators in C that they use, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.sparse import AddSparseDenseC as AddSD_ccode
from theano.pytensor_internals.operations.sparse import (
    CSMGradC,
    MulSDCSC,
    MulSDCSR,
    MulSVCSR,
    SamplingDotCSR,
    StructuredDotCSC,
    StructuredDotCSR,
    UsmmCscDense,
    csm_grad_c,
    local_addsd_ccode,
    local_csm_grad_c,
    local_csm_properties_csm,
    local_dense_from_sparse_sparse_from_dense,
    local_inplace_addsd_ccode,
    local_inplace_remove0,
    local_mul_s_d,
    local_mul_s_v,
    local_sampling_dot_csr,
    local_structured_add_s_v,
    local_structured_dot,
    local_usmm,
    local_usmm_csc_dense_inplace,
    local_usmm_csx,
    mul_s_d_csc,
    mul_s_d_csr,
    mul_s_v_csr,
    sampling_dot_csr,
    sd_csc,
    sd_csr,
    structured_add_s_v_csr,
    usmm_csc_dense,
    usmm_csc_dense_inplace,
)
from theano.pytensor_internals.operations.sparse import (
    StructuredAddSparseDenseVectorCSR as StructuredAddSVCSR,
)
