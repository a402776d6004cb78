"""The linker that runs a graph node by node, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.pytensor_internals.functions.linking import VM, Loop, Stack, calculate_reallocate_info
from theano.pytensor_internals.functions.linking import VMLinker as VM_Linker
