"""Matrix products by SciPy, by Theano 1.0's names: PyTensor's rank-one update calls SciPy itself."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.blas import Ger as ScipyGer
from pytensor.tensor.blas import ger as scipy_ger_no_inplace
from pytensor.tensor.blas import ger_destructive as scipy_ger_inplace

have_fblas = True
