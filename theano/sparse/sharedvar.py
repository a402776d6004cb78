"""Shared variables that hold sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.sparse import (
    SparseTensorSharedVariable,
    sparse_constructor,
)
