"""The type of sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_base.operations.sparse import SparseTensorType as SparseType
from theano.pytensor_base.operations.sparse import is_sparse as _is_sparse
