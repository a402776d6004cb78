"""Theano 1.0's `theano.gpuarray`."""
