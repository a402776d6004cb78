"""Theano 1.0's `theano.tensor.nnet.corr3d`: correlations of volumes, and their gradients."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.correlation.operators import (
    BaseCorr3dMM,
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
)
