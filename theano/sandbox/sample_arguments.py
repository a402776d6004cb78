"""Checks of the arguments of samples: sizes, dtypes and parameters."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import undefined_grad
from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import upcast
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor

__all__ = [
    "as_matrix",
    "as_size",
    "check_lengths",
    "check_rank",
    "float_dtype",
    "is_integer",
    "without_gradient",
]


def without_gradient(value: Any, dtype: str | None = None) -> TensorVariable:
    """Make a tensor of which a gradient is refused, as Theano refuses that of parameters."""
    tensor = pt.as_tensor_variable(value)
    if dtype is not None:
        tensor = tensor.astype(dtype)
    return tensor if isinstance(tensor, Constant) else undefined_grad(tensor)


def float_dtype(dtype: str | None, *parameters: Any) -> str:
    """Return the dtype of samples: the one that is given, or that of the parameters and the flag floatX."""
    if dtype is None:
        dtypes = [pt.as_tensor_variable(parameter).dtype for parameter in parameters]
        return upcast(config.floatX, *dtypes)
    return config.floatX if dtype == "floatX" else str(np.dtype(dtype))


def is_integer(value: object) -> bool:
    """Return whether a value is a number that is an integer."""
    return isinstance(value, int | np.integer)


def check_lengths(size: Any) -> None:
    """Raise ValueError if a length is not above 0."""
    if any(is_integer(length) and length <= 0 for length in size):
        raise ValueError(f"expected a size of lengths above 0, got {size}")


def as_size(size: object) -> TensorVariable:
    """Turn a length, a sequence of lengths or a symbolic size into a symbolic vector."""
    if isinstance(size, Variable):
        if size.type.ndim > 1:
            raise ValueError(f"expected a size that is a vector, got {size.type}")
        return known_tensor(size) if size.type.ndim == 1 else pt.stack([size])
    if is_integer(size):
        size = (size,)
    if not isinstance(size, tuple | list):
        raise ValueError(f"expected an int, a sequence or a variable as size, got {size!r}")
    if not all(is_integer(n) or (isinstance(n, Variable) and n.type.ndim == 0) for n in size):
        raise ValueError(f"expected a size of ints and scalar variables, got {size!r}")
    check_lengths(size)
    return pt.as_tensor_variable(size, ndim=1) if size else pt.constant(np.zeros(0, dtype="int64"))


def check_rank(size: object, ndim: int | None) -> None:
    """Raise ValueError if neither a symbolic size nor `ndim` tells the number of dimensions."""
    if ndim is not None or not isinstance(size, Variable):
        return
    try:
        pt.get_vector_length(size)
    except ValueError:
        raise ValueError(
            f"expected ndim, the number of dimensions of the samples, where the size {size} is a"
            " vector without a static length: pass ndim=2 with it for a matrix"
        ) from None


def as_matrix(operation: str, name: str, value: object) -> TensorVariable:
    """Make a matrix of which a gradient is refused; NotImplementedError if it is none."""
    matrix = without_gradient(value)
    if matrix.ndim != 2:
        raise NotImplementedError(f"{operation}: expected {name} as a matrix, got {matrix.type}")
    return matrix
