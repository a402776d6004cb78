"""Theano 1.0's `theano.gpuarray.dnn`: what programs took from cuDNN."""
# ruff: noqa: F401 -- this file re-exports

from theano.gpuarray.dnn.conversion import params_from_scan, params_to_scan
from theano.gpuarray.dnn.rnn_block import RNNBlock
