"""The hash of a sparse matrix."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.sparse.utils import hash_from_sparse
