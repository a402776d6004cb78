"""The greatest, the mean or the sum of the elements in each window of images."""

from __future__ import annotations

import warnings

import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.signal.pooling.older_names import by_newer_names
from theano.tensor.signal.pooling.operators import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolGrad,
)

__all__ = [
    "AveragePoolGrad",
    "DownsampleFactorMaxGradGrad",
    "MaxPoolGrad",
    "MaxPoolRop",
    "Pool",
    "PoolGrad",
    "max_pool_2d_same_size",
    "pool_2d",
    "pool_3d",
]


def max_pool_2d_same_size(input: TensorLike, patch_size: object) -> TensorVariable:
    """Return `input` with zeros where an element is not the greatest of its patch.

    Parameters
    ----------
    input : tensor of at least 2 dimensions
        Its last two are divided into patches; what is left over at the border is zero.
    patch_size : pair of int, or integer vector
        The shape of a patch.

    Returns
    -------
    TensorVariable
        Of the shape of `input`.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.signal.pool import max_pool_2d_same_size
    >>> image = T.constant(numpy.arange(8.0).reshape((2, 4)))
    >>> max_pool_2d_same_size(image, (2, 2)).eval().tolist()
    [[0.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 7.0]]
    """
    greatest = Pool(True)(input, patch_size)
    return known_tensor(MaxPoolGrad(True)(input, greatest, greatest, patch_size))


def _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, ndim: int):
    ws, stride, pad = by_newer_names(f"pool_{ndim}d", ws, stride, pad, ds, st, padding)
    input = pt.as_tensor_variable(input)
    if input.ndim < ndim:
        raise NotImplementedError(
            f"pool_{ndim}d: expected at least {ndim} dimensions, got {input.type}"
        )
    if ignore_border is None:
        warnings.warn(
            f"pool_{ndim}d: ignore_border is not given; False is taken, as Theano did",
            stacklevel=3,
        )
        ignore_border = False
    return Pool(ignore_border, mode, ndim)(input, ws, stride, pad)


def pool_2d(
    input: TensorLike,
    ws: object = None,
    ignore_border: bool | None = None,
    stride: object = None,
    pad: object = (0, 0),
    mode: str = "max",
    ds: object = None,
    st: object = None,
    padding: object = None,
) -> TensorVariable:
    """Pool the last two dimensions of `input`.

    Parameters
    ----------
    input : tensor of at least 2 dimensions
    ws : pair of int, or integer vector
        The shape of a window.
    ignore_border : bool
        Whether to leave out windows that reach over the border. False, with a warning, if
        it is not given.
    stride : pair of int, or integer vector, optional
        The distance from one window to the next; `ws` if it is not given.
    pad : pair of int, or integer vector
        How many rows and columns to put around: each side of an image.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad'}
        What is returned for a window; a mean may include or exclude what was put around.
    ds, st, padding
        Older names of `ws`, `stride` and `pad`, with a warning.

    Returns
    -------
    TensorVariable
        Of the dtype of `input`.

    Raises
    ------
    ValueError
        An unknown mode, no window, or one argument by two names.
    NotImplementedError
        Fewer dimensions, a padding with ``ignore_border=False``, or one as large as a window.
    TypeError
        Windows that are not integers.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.signal.pool import pool_2d
    >>> image = T.constant(numpy.arange(16.0).reshape((4, 4)))
    >>> pool_2d(image, (2, 2), ignore_border=True).eval().tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    return _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, 2)


def pool_3d(
    input: TensorLike,
    ws: object = None,
    ignore_border: bool | None = None,
    stride: object = None,
    pad: object = (0, 0, 0),
    mode: str = "max",
    ds: object = None,
    st: object = None,
    padding: object = None,
) -> TensorVariable:
    """Pool the last three dimensions of `input`: see `pool_2d`."""
    return _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, 3)
