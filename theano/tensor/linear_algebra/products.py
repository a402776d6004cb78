"""The operator of a product of vectors and matrices, which takes no other tensors."""

import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable


def _dot(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Multiply two vectors, two matrices, or one of each.

    Raises
    ------
    TypeError
        A factor has another number of dimensions.
    """
    factors = [pt.as_tensor_variable(factor) for factor in (x, y)]
    for factor in factors:
        if factor.type.ndim not in (1, 2):
            raise TypeError(f"Dot: expected vectors or matrices, got {factor.type}")
    return pt.dot(*factors)
