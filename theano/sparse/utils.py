"""The hash of a sparse matrix."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.sparse import hash_from_sparse
