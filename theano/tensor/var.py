"""The classes of tensor variables, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor import variable
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.variable import TensorConstant, TensorConstantSignature

from theano.gof.instances import including_instances_of
from theano.pytensor_base.operations.tensor import TensorOperators as _tensor_py_operators
from theano.tensor.as_tensor import AsTensorError


@including_instances_of(variable.TensorVariable)
class TensorVariable(variable.TensorVariable):
    """A variable that stands for a tensor.

    Parameters
    ----------
    type : TensorType
    owner : Apply, optional
        What computes it.
    index : int, optional
        Which output of `owner` it is.
    name : str, optional
    """

    def __init__(self, type, owner=None, index=None, name=None):
        super().__init__(type, owner, index=index, name=name)
