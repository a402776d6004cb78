"""Rewrites into what runs faster and is not canonical, by Theano 1.0's names."""

from theano.gof.rewriters.local_rewriters import OfPyTensor
from theano.pytensor_internals.operations.tensor_rewrites import uncanonicalize

local_max_to_min = OfPyTensor(uncanonicalize.local_max_to_min, "local_max_to_min")
local_alloc_dimshuffle = OfPyTensor(uncanonicalize.local_alloc_dimshuffle, "local_alloc_dimshuffle")
local_reshape_dimshuffle = OfPyTensor(
    uncanonicalize.local_reshape_dimshuffle, "local_reshape_dimshuffle"
)
local_dimshuffle_alloc = OfPyTensor(uncanonicalize.local_dimshuffle_alloc, "local_dimshuffle_alloc")
local_dimshuffle_subtensor = OfPyTensor(
    uncanonicalize.local_dimshuffle_subtensor, "local_dimshuffle_subtensor"
)
