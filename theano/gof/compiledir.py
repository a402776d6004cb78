"""The folder of compiled code, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.functions.compiling import (
    basecompiledir_ls,
    basecompiledir_purge,
    cleanup,
    compiledir_purge,
    print_compiledir_content,
)
