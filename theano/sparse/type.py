"""The type of sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.sparse.type import SparseTensorType as SparseType
from pytensor.sparse.type import _is_sparse
