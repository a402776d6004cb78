"""Theano 1.0's `theano.sparse`: sparse matrices."""
# ruff: noqa: F401, F403 -- this file re-exports

from theano.sparse import basic, opt, sharedvar, type, utils
from theano.sparse.basic import *
from theano.sparse.sharedvar import sparse_constructor as shared
from theano.sparse.structured_gradients import sparse_grad
from theano.sparse.type import SparseType, _is_sparse

# In Theano, False without SciPy.
enable_sparse = True
