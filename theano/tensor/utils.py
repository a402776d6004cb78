"""Helpers on arrays and shapes, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.tensor import hash_from_ndarray, shape_of_variables
