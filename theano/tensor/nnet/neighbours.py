"""Rows of elements from the windows of images, and back."""

from typing import Any

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.nnet.neighbours_operators import Images2Neibs

__all__ = ["Images2Neibs", "images2neibs", "neibs2images"]

_four_lengths = CheckAndRaise(ValueError, "neibs2images: expected a shape of four lengths")


def images2neibs(
    ten4: TensorLike, neib_shape: TensorLike, neib_step: object = None, mode: str = "valid"
) -> TensorVariable:
    """Make each window of each image a row of a matrix.

    Parameters
    ----------
    ten4 : tensor of shape (images, channels, rows, columns)
    neib_shape : pair of int, or integer vector
        The shape of a window.
    neib_step : pair of int, or integer vector, optional
        The distance from one window to the next; `neib_shape` if it is not given.
    mode : str
        What happens at the borders: see `Images2Neibs`.

    Returns
    -------
    matrix
        A row for each window: image by image, channel by channel, along the rows.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> image = T.constant(numpy.arange(16).reshape((1, 1, 4, 4)))
    >>> T.nnet.neighbours.images2neibs(image, (2, 2)).eval()[0].tolist()
    [0, 1, 4, 5]
    """
    return known_tensor(Images2Neibs(mode)(ten4, neib_shape, neib_step))


def neibs2images(
    neibs: TensorLike, neib_shape: Any, original_shape: Any, mode: str = "valid"
) -> TensorVariable:
    """Put windows that lie side by side, as `images2neibs` returns them, together again.

    Parameters
    ----------
    neibs : matrix
        A row for each window.
    neib_shape : pair of int, or integer vector
        The shape of a window.
    original_shape : four int, or integer vector
        The shape of the images.
    mode : {'valid', 'ignore_borders'}
        Zeros stand where ``'ignore_borders'`` left something out.

    Returns
    -------
    tensor of shape `original_shape`

    Raises
    ------
    NotImplementedError
        Another mode.
    """
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"neibs2images: expected mode valid or ignore_borders: {mode!r}")
    neibs, neib_shape = pt.as_tensor_variable(neibs), pt.as_tensor_variable(neib_shape)
    given = pt.as_tensor_variable(original_shape)
    given = known_tensor(_four_lengths(given, pt.eq(given.shape[0], 4)))
    shape = [given[axis] for axis in range(4)]
    # A row of windows is a row of images as wide as a window: its columns are taken in turn.
    turned = pt.stack([shape[-1] // neib_shape[1], neib_shape[1]])
    rows = images2neibs(neibs.dimshuffle("x", "x", 0, 1), turned, mode=mode)
    if mode == "valid":
        return rows.reshape(shape)
    covered = [shape[axis + 2] // neib_shape[axis] * neib_shape[axis] for axis in range(2)]
    images = rows.reshape([*shape[:2], *covered])
    whole = pt.zeros([*shape[:2], *(shape[axis + 2] for axis in range(2))], dtype=images.dtype)
    return pt.set_subtensor(whole[:, :, : covered[0], : covered[1]], images)
