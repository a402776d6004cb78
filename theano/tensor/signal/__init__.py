"""Theano 1.0's `theano.tensor.signal`: convolution and pooling."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.signal import conv, downsample, pool
