"""Where the windows of a convolution or a pooling lie in an array."""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable


def pad_last(
    x: TensorVariable, before: Sequence[Any], after: Sequence[Any], fill: float = 0
) -> TensorVariable:
    """Put `before` and `after` elements of value `fill` around the last dimensions of `x`."""
    if all(isinstance(n, int) and n == 0 for n in (*before, *after)):
        return x
    first = x.ndim - len(before)
    lengths = [x.shape[axis] for axis in range(x.ndim)]
    sizes = lengths[:first] + [
        length + b + a for length, b, a in zip(lengths[first:], before, after, strict=True)
    ]
    inner = [slice(b, b + length) for b, length in zip(before, lengths[first:], strict=True)]
    canvas = pt.full(sizes, pt.constant(fill, dtype=x.dtype))
    return pt.set_subtensor(canvas[(slice(None),) * first + tuple(inner)], x)


def window_positions(
    lengths: Sequence[Any],
    counts: Sequence[Any],
    sizes: Sequence[Any],
    strides: Sequence[Any],
    dilations: Sequence[Any],
) -> TensorVariable:
    """Return the position of each element of each window in a flattened array.

    Parameters
    ----------
    lengths : sequence of int or scalars
        The shape of the array.
    counts : sequence of int or scalars
        How many windows there are along each dimension.
    sizes, strides, dilations : sequences of int or scalars
        The shape of a window, the distance from one to the next, and the distance of
        neighbours in one.

    Returns
    -------
    integer matrix of shape (number of windows, elements in one)
    """
    rank = len(lengths)
    position: Any = 0
    for axis in range(rank):
        start = pt.arange(counts[axis]) * strides[axis]
        offset = pt.arange(sizes[axis]) * dilations[axis]
        along = start.dimshuffle(*["x"] * axis, 0, *["x"] * (2 * rank - axis - 1)) + (
            offset.dimshuffle(*["x"] * (rank + axis), 0, *["x"] * (rank - axis - 1))
        )
        position = position * lengths[axis] + along
    return position.reshape((product(counts), product(sizes)))


def product(factors: Sequence[Any]) -> Any:
    """Return the product of numbers, symbolic ones among them."""
    result: Any = 1
    for factor in factors:
        result = result * factor
    return result
