"""The lock on the folder of compiled code, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_base.compiling import force_unlock, lock_ctx
