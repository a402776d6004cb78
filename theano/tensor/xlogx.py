"""x log x and x log y, with 0 where x is 0, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.xlogx import xlogx, xlogy0
