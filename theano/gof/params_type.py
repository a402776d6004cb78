"""Parameters of operators in C, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.link.c.params_type import Params, ParamsType
