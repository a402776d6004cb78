"""The largest and the smallest elements along axes, and where they are."""

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.type_other import NoneTypeT
from pytensor.tensor.variable import TensorVariable

__all__ = ["argmax", "argmin", "check_and_normalize_axes", "max", "max_and_argmax", "min"]


def check_and_normalize_axes(x: TensorLike, axis: object) -> list[int]:
    """Return the axes as increasing numbers, each once; an empty list for None.

    Parameters
    ----------
    x : tensor
    axis : int, sequence or array of int, constant, or None

    Returns
    -------
    list of int

    Raises
    ------
    TypeError
        The axes are no integers, or not constant.
    ValueError
        `x` does not have them.
    """
    ndim = pt.as_tensor_variable(x).type.ndim
    if isinstance(axis, Variable):
        if not isinstance(axis, Constant):
            raise TypeError(f"expected constant axes, got {axis}")
        axis = None if isinstance(axis.type, NoneTypeT) else axis.data
    if axis is None:
        return []
    axes = np.atleast_1d(np.asarray(axis))
    if axes.dtype.kind not in "iu":
        raise TypeError(f"expected integer axes, got {axis!r}")
    for number in axes:
        if not -ndim <= number < ndim:
            raise ValueError(f"expected axes of a tensor of {ndim} dimensions, got {number}")
    return sorted({int(number) % ndim for number in axes})


def max(x: TensorLike, axis: object = None, keepdims: bool = False) -> TensorVariable:
    """Return the largest elements along the axes, of all elements for None."""
    return pt.max(x, axis=_axes(x, axis), keepdims=keepdims)


def min(x: TensorLike, axis: object = None, keepdims: bool = False) -> TensorVariable:
    """Return the smallest elements along the axes, of all elements for None."""
    return pt.min(x, axis=_axes(x, axis), keepdims=keepdims)


def argmax(x: TensorLike, axis: object = None, keepdims: bool = False) -> TensorVariable:
    """Return the positions of the largest elements along the axes, which count as one."""
    return pt.argmax(x, axis=_axes(x, axis), keepdims=keepdims)


def argmin(x: TensorLike, axis: object = None, keepdims: bool = False) -> TensorVariable:
    """Return the positions of the smallest elements along the axes, which count as one."""
    return pt.argmin(x, axis=_axes(x, axis), keepdims=keepdims)


def max_and_argmax(
    a: TensorLike, axis: object = None, keepdims: bool = False
) -> tuple[TensorVariable, TensorVariable]:
    """Return the largest elements along the axes, and their positions."""
    return max(a, axis, keepdims), argmax(a, axis, keepdims)


def _axes(x: TensorLike, axis: object) -> int | tuple[int, ...] | None:
    axes = check_and_normalize_axes(x, axis)
    if len(axes) == 1:
        return axes[0]
    return tuple(axes) or None
