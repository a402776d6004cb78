"""Linear systems, at the place where old programs look for them."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.slinalg import Solve, solve
