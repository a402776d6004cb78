"""The classes of tensor variables, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.variable import (
    TensorConstant,
    TensorConstantSignature,
    TensorVariable,
    _tensor_py_operators,
)


class AsTensorError(TypeError):
    """Something cannot be made a tensor variable."""
