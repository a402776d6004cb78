"""Theano 1.0's `theano.tensor.signal`."""
