"""The classes of tensor variables, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.tensor import variable
from pytensor.tensor.variable import TensorConstant, TensorConstantSignature

from theano.gof.instances import including_instances_of
from theano.pytensor_internals.operations.tensor import TensorOperators as _tensor_py_operators
from theano.tensor.as_tensor import AsTensorError, as_tensor_variable


class _EqualToPyTensors(type(variable.TensorVariable)):  # type: ignore[misc]
    """Of `TensorVariable`, which equals PyTensor's class: programs compare ``type(x)`` with it."""

    def __eq__(cls, other):
        if cls is other:
            return True
        return cls is TensorVariable and other is variable.TensorVariable

    def __hash__(cls):
        # asked while the class is made, before it has its name here
        if cls.__module__ == __name__:
            return hash(variable.TensorVariable)
        return super().__hash__()


# constants and shared variables are other Theano classes
@including_instances_of(variable.TensorVariable, but=(Constant, SharedVariable))
class TensorVariable(variable.TensorVariable, metaclass=_EqualToPyTensors):
    """A variable that stands for a tensor.

    Results of operators are of PyTensor's class, which equals this one; it is not the same.

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
