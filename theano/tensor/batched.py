"""Products of tensors one item of a batch at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.variable import TensorVariable


def batched_dot(a: Any, b: Any) -> TensorVariable:
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


def batched_tensordot(x: Any, y: Any, axes: int | Sequence[Sequence[int]] = 2) -> TensorVariable:
    """Sum products of the items of `x` and `y` over several axes.

    Parameters
    ----------
    x, y : tensors of shape (B, ...)
    axes : int or pair of sequences of int
        How many axes to sum over: the last of `x`, the first of `y` after the batch. Or
        which axes of each, counted with the batch.

    Returns
    -------
    tensor of shape (B, ...)
    """
    x, y = pt.as_tensor_variable(x), pt.as_tensor_variable(y)
    if isinstance(axes, int):
        core_axes: Any = axes
    else:
        core_axes = [
            [axis % tensor.ndim - 1 for axis in chosen]
            for tensor, chosen in zip((x, y), axes, strict=True)
        ]
    return _batched(lambda a, b: pt.tensordot(a, b, core_axes), x, y, "batched_tensordot")


def _batched(product: Callable, a: Any, b: Any, name: str) -> TensorVariable:
    """Apply a product of two items to a whole batch."""
    a, b = pt.as_tensor_variable(a), pt.as_tensor_variable(b)
    for argument in (a, b):
        if argument.ndim == 0:
            raise TypeError(f"{name}: expected a first dimension for the batch, got a scalar")
    item_a, item_b = a[0].type(), b[0].type()
    return vectorize_graph(product(item_a, item_b), replace={item_a: a, item_b: b})
