"""Shared scalars, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.scalar.sharedvar import ScalarSharedVariable, shared
