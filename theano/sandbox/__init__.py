"""Theano 1.0's `theano.sandbox`: names that programs still import from there."""
