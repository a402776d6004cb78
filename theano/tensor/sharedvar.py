"""Shared tensors, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.sharedvalue import SharedVariable, shared_constructor
from pytensor.tensor.sharedvar import (
    load_shared_variable,
    scalar_constructor,
    tensor_constructor,
)

from theano.compile.sharedvalue import TensorSharedVariable

# A shared scalar is a shared tensor of no dimensions.
ScalarSharedVariable = TensorSharedVariable
