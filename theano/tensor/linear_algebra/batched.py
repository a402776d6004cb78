"""Products of tensors one item of a batch at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable


def batched_dot(a: TensorLike, b: TensorLike) -> TensorVariable:
    """Multiply the items of `a` with those of `b`: ``result[i] = dot(a[i], b[i])``.

    Parameters
    ----------
    a : tensor of shape (B, ...)
    b : tensor of shape (B, ...)

    Returns
    -------
    tensor of shape (B, ...)

    Raises
    ------
    TypeError
        `a` or `b` has no dimension for the batch.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.batched_dot(T.tensor3(), T.tensor3()).ndim
    3
    """
    return _batched(pt.dot, a, b, "batched_dot")


def batched_tensordot(x: TensorLike, y: TensorLike, axes: int | Sequence = 2) -> TensorVariable:
    """Sum products of the items of `x` and `y` over several axes.

    Parameters
    ----------
    x, y : tensors of shape (B, ...)
    axes : int, pair of int, or pair of sequences of int
        How many axes to sum over: the last of `x`, the first of `y` after the batch. Or
        which axes of each, counted with the batch.

    Returns
    -------
    tensor of shape (B, ...)
    """
    x, y = pt.as_tensor_variable(x), pt.as_tensor_variable(y)
    core_axes = _axes_of_items(axes, x, y)
    return _batched(lambda a, b: pt.tensordot(a, b, core_axes), x, y, "batched_tensordot")


def _axes_of_items(axes: object, x: TensorVariable, y: TensorVariable) -> Any:
    """Return which axes of each item are summed over, as `tensordot` takes them."""
    if isinstance(axes, int | np.integer):
        for name, tensor in (("a", x), ("b", y)):
            if not 0 <= axes < tensor.ndim:
                raise ValueError(
                    f"axes to sum over must not include the batch axis of {name} "
                    f"({name}.ndim={tensor.ndim}, axes={axes})"
                )
        return int(axes)
    if not isinstance(axes, list | tuple) or len(axes) != 2:
        raise ValueError(
            f"Axes should be an integer or a list/tuple of len 2 ({axes} was provided)"
        )
    both = [[int(n) for n in np.atleast_1d(chosen)] for chosen in axes]
    if len(both[0]) != len(both[1]):
        raise ValueError(f"as many axes of a as of b are summed over, got {both[0]} and {both[1]}")
    for number, (chosen, tensor) in enumerate(zip(both, (x, y), strict=True)):
        name = "ab"[number]
        if any(not -tensor.ndim <= axis < tensor.ndim for axis in chosen):
            raise ValueError(
                f"axes[{number}] contains dimensions greater than or equal to {name}.ndim "
                f"({name}.ndim={tensor.ndim}, axes[{number}]={chosen})."
            )
        if any(axis % tensor.ndim == 0 for axis in chosen):
            raise ValueError(
                f"axes to sum over must not contain the batch axis (axes[{number}]={chosen})"
            )
    return [
        [axis % tensor.ndim - 1 for axis in chosen]
        for chosen, tensor in zip(both, (x, y), strict=True)
    ]


def _batched(product: Callable, a: TensorLike, b: TensorLike, name: str) -> TensorVariable:
    """Apply a product of two items to a whole batch."""
    a, b = pt.as_tensor_variable(a), pt.as_tensor_variable(b)
    for argument in (a, b):
        if argument.ndim == 0:
            raise TypeError(f"{name}: expected a first dimension for the batch, got a scalar")
    item_a, item_b = a[0].type(), b[0].type()
    return vectorize_graph(product(item_a, item_b), replace={item_a: a, item_b: b})
