"""Parameters of operators in C, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.functions.c_code import Params, ParamsType
