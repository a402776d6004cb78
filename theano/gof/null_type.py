"""The type of a gradient that cannot be computed, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.null_type import NullType, null_type
