"""Variables that stand for arrays, as devices have them."""

from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from theano.scan_module.step.sparse_matrices import is_sparse


def is_array(variable: Variable) -> bool:
    """Return whether a variable's values are arrays: the types of sparse matrices are tensors', too."""
    return isinstance(variable.type, TensorType) and not is_sparse(variable)
