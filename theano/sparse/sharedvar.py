"""Shared variables that hold sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_base.operations.sparse import SparseTensorSharedVariable, sparse_constructor
