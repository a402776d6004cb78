"""Theano 1.0's `theano.tensor.nnet.corr`: correlations of images, and their gradients."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.correlation.operators import (
    BaseCorrMM,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)
