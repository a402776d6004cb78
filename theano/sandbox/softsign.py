"""The softsign function, at the place where old programs look for it."""
# ruff: noqa: F401 -- this file re-exports

from theano.tensor.nnet.nnet import softsign
