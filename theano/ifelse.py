"""Theano 1.0's `theano.ifelse`: a condition that computes only the branch it takes."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.tensor import IfElse, ifelse
