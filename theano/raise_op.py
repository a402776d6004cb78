"""Theano 1.0's `theano.raise_op`: errors that a graph raises when it runs."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.raise_op import Assert, CheckAndRaise, assert_op
