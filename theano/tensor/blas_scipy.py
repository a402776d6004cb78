"""Matrix products by SciPy, by Theano 1.0's names: PyTensor's rank-one update calls SciPy itself."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.operations.tensor import Ger as ScipyGer
from theano.pytensor_internals.operations.tensor import ger as scipy_ger_no_inplace
from theano.pytensor_internals.operations.tensor import ger_destructive as scipy_ger_inplace

have_fblas = True
