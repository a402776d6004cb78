"""Checks on operators that work in place, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.graphs.graph import DestroyHandler, inplace_candidates
