"""Images seen through affine maps, as cuDNN's spatial transformer saw them."""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

__all__ = ["dnn_spatialtf"]

_maps = CheckAndRaise(
    RuntimeError, "dnn_spatialtf: expected theta of shape (images, 2, 3), a map for each image"
)


def dnn_spatialtf(
    img: TensorLike, theta: Any, scale_width: float = 1, scale_height: float = 1
) -> TensorVariable:
    """Return images whose elements are read where affine maps say, between neighbours linearly.

    Both coordinates go from -1 to 1 over an image, from the middle of its first element to that of
    its last. Outside the image there are zeros.

    Parameters
    ----------
    img : tensor of shape (images, channels, rows, columns)
    theta : tensor of shape (images, 2, 3)
        For each image, what makes the place (x, y) that is read of (x, y, 1), the place that is
        written.
    scale_width, scale_height : float
        How wide and how high the result is, relative to the images; rounded up.

    Returns
    -------
    tensor of shape (images, channels, rows * scale_height, columns * scale_width)

    Raises
    ------
    RuntimeError
        In a call, when `theta` has another shape.

    References
    ----------
    M. Jaderberg, K. Simonyan, A. Zisserman, K. Kavukcuoglu, "Spatial transformer networks", 2015,
    section 3.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.gpuarray.dnn import dnn_spatialtf
    >>> image = T.constant(numpy.arange(4.0).reshape((1, 1, 2, 2)))
    >>> mirrored = T.constant(numpy.array([[[-1.0, 0, 0], [0, 1, 0]]]))
    >>> dnn_spatialtf(image, mirrored).eval()[0, 0].tolist()
    [[1.0, 0.0], [3.0, 2.0]]
    """
    img, theta = pt.as_tensor_variable(img), pt.as_tensor_variable(theta)
    fits = pt.eq(theta.shape[0], img.shape[0]) & pt.eq(theta.shape[1], 2) & pt.eq(theta.shape[2], 3)
    theta = _maps(theta, fits)
    rows = pt.ceil(img.shape[2] * scale_height).astype("int64")
    columns = pt.ceil(img.shape[3] * scale_width).astype("int64")
    across = _from_minus_one_to_one(columns, theta.dtype)
    down = _from_minus_one_to_one(rows, theta.dtype)

    def place(axis: int, length: Any) -> TensorVariable:
        """Return the places that are read, in elements, for each image, row and column."""
        terms = (theta[:, axis, k].dimshuffle(0, "x", "x") for k in range(3))
        of_x, of_y, shift = terms
        at = of_x * across.dimshuffle("x", "x", 0) + of_y * down.dimshuffle("x", 0, "x") + shift
        return (at + 1) / 2 * (length - 1).astype(theta.dtype)

    return _read_between(img, place(0, img.shape[3]), place(1, img.shape[2]))


def _from_minus_one_to_one(count: Any, dtype: str) -> TensorVariable:
    """So many numbers, evenly apart; -1 alone where there is one."""
    apart = (2.0 / pt.maximum(count - 1, 1)).astype(dtype)
    return pt.arange(count).astype(dtype) * apart - 1


def _read_between(img: Any, x: TensorVariable, y: TensorVariable) -> TensorVariable:
    """Elements between neighbours, by the weights of these."""
    left, top = pt.floor(x), pt.floor(y)
    image = pt.arange(img.shape[0]).dimshuffle(0, "x", "x")
    result: Any = 0
    for column, row in ((left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)):
        weight = (1 - abs(x - column)) * (1 - abs(y - row))
        inside = pt.ge(column, 0) & pt.lt(column, img.shape[3])
        inside = inside & pt.ge(row, 0) & pt.lt(row, img.shape[2])
        at = pt.clip(row, 0, img.shape[2] - 1).astype("int64")
        alongside = pt.clip(column, 0, img.shape[3] - 1).astype("int64")
        # by image, row and column, and then channel
        values = img.dimshuffle(0, 2, 3, 1)[image, at, alongside]
        result += pt.switch(inside, weight, 0).dimshuffle(0, 1, 2, "x") * values
    return result.dimshuffle(0, 3, 1, 2)
