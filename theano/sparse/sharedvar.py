"""Shared variables that hold sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.sparse.sharedvar import SparseTensorSharedVariable, sparse_constructor
