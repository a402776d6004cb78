"""The number that a variable always is, where the graph gives it."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant
from pytensor.tensor import TensorLike
from pytensor.tensor.exceptions import NotScalarConstantError

__all__ = [
    "EmptyConstantError",
    "NotScalarConstantError",
    "extract_constant",
    "get_scalar_constant_value",
]


class EmptyConstantError(NotScalarConstantError):
    """A constant has no elements."""


def get_scalar_constant_value(
    orig_v: object, elemwise: bool = True, only_process_constants: bool = False, max_recur: int = 10
) -> np.ndarray:
    """Return the number that `orig_v` always is, or that all its elements always are.

    Parameters
    ----------
    orig_v : variable, array or number
    elemwise : bool
        Whether to compute element-wise operators of constants.
    only_process_constants : bool
        Whether to look at `orig_v` itself only, not at what it is computed from.
    max_recur : int
        How many operators to look through.

    Returns
    -------
    array of no dimensions

    Raises
    ------
    EmptyConstantError
        It has no elements.
    NotScalarConstantError
        It is not known, or its elements differ.
    """
    data = orig_v.data if isinstance(orig_v, Constant) else orig_v
    if isinstance(data, np.ndarray) and not data.size:
        raise EmptyConstantError(f"expected a number, got an array of shape {data.shape}")
    return pt.get_underlying_scalar_constant_value(
        orig_v,
        elemwise=elemwise,
        only_process_constants=only_process_constants,
        max_recur=max_recur,
    )


def extract_constant(
    x: TensorLike, elemwise: bool = True, only_process_constants: bool = False
) -> Any:
    """Return the number that `x` always is, or `x` where that is not known."""
    try:
        return get_scalar_constant_value(x, elemwise, only_process_constants)
    except NotScalarConstantError:
        return x
