"""Products with blocks of a matrix, at the place where old programs look for them."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.blocksparse import (
    SparseBlockGemv,
    SparseBlockOuter,
    sparse_block_dot,
    sparse_block_gemv,
    sparse_block_gemv_inplace,
    sparse_block_outer,
    sparse_block_outer_inplace,
)
