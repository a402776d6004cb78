"""The lock on the folder of compiled code, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.compilelock import force_unlock, lock_ctx
