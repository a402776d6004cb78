"""Element-wise operators, reductions and permutations of dimensions, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise, scalar_elemwise
from pytensor.tensor.math import All, Any, Max, Min, Prod, ProdWithoutZeros, Sum

from theano.tensor.var import TensorConstant
