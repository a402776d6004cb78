"""Checks on operators that work in place, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.destroyhandler import DestroyHandler, inplace_candidates
