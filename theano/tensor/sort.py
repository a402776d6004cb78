"""Sorting, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.sort import ArgSortOp, SortOp, argsort, sort
from pytensor.tensor.variable import TensorVariable


def argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the positions of the `kth` largest elements along `axis`.

    Parameters
    ----------
    x : tensor
    kth : int
        How many elements; a negative number asks for the smallest ones.
    axis : int or None
        The dimension to look along; None flattens `x` first.
    sorted : bool
        Accepted for Theano's signature: the result is in increasing order of the elements
        either way.
    idx_dtype : str
        The dtype of the result.

    Returns
    -------
    TensorVariable
        Of length ``abs(kth)`` along `axis`.
    """
    x = pt.as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    order = pt.moveaxis(pt.argsort(x, axis=axis), axis, 0)
    count = pt.as_tensor_variable(kth)
    length = order.shape[0]
    start = pt.switch(count > 0, length - count, 0)
    stop = pt.switch(count > 0, length, -count)
    return pt.moveaxis(order[start:stop], 0, axis).astype(idx_dtype)


def topk_and_argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> tuple[TensorVariable, TensorVariable]:
    """Return the `kth` largest elements along `axis` and their positions: see `argtopk`."""
    x = pt.as_tensor_variable(x)
    if axis is None:
        x, axis = x.flatten(), 0
    positions = argtopk(x, kth, axis=axis, idx_dtype=idx_dtype)
    return pt.take_along_axis(x, positions, axis=axis), positions


def topk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the `kth` largest elements along `axis`: see `argtopk`."""
    return topk_and_argtopk(x, kth, axis=axis, idx_dtype=idx_dtype)[0]
