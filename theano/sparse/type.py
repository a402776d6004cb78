"""The type of sparse matrices."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_base.sparse import SparseTensorType as SparseType
from theano.pytensor_base.sparse import is_sparse as _is_sparse
