"""The older place of `conv2d`."""

import warnings
from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet import abstract_conv

# In Theano, False without SciPy.
imported_scipy_signal = True


def conv2d(
    input: Any,
    filters: Any,
    image_shape: Any = None,
    filter_shape: Any = None,
    border_mode: str = "valid",
    subsample: Any = (1, 1),
    unroll_batch: int | None = None,
    unroll_kern: int | None = None,
    unroll_patch: bool | None = None,
    openmp: bool | None = None,
) -> TensorVariable:
    """Convolve a batch of images: `theano.tensor.nnet.conv2d` with its older arguments.

    Parameters
    ----------
    input : tensor of shape (B, C, H, W)
    filters : tensor of shape (F, C, KH, KW)
    image_shape, filter_shape : sequence of int, constants or None, optional
        The shapes as far as they are known; they are checked when the function runs.
    border_mode : {'valid', 'full'}
    subsample : pair of int
    unroll_batch, unroll_kern, unroll_patch, openmp
        How Theano's own C loops were to be written. Here a convolution is one large product,
        so there is nothing to choose: a warning says so.

    Returns
    -------
    tensor of shape (B, F, H', W')

    Raises
    ------
    NotScalarConstantError
        A length in a shape is a variable that is not constant.
    AssertionError
        The shapes tell different numbers of channels.
    ValueError
        When the function runs: an array is not of the shape that was told, or a filter is
        larger than an image that nothing is put around.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.nnet.conv import conv2d
    >>> image = T.constant(numpy.ones((1, 1, 4, 4)))
    >>> conv2d(image, image[:, :, :3, :3], (1, 1, 4, 4)).eval()[0, 0].tolist()
    [[9.0, 9.0], [9.0, 9.0]]
    """
    hints = {"unroll_batch": unroll_batch, "unroll_kern": unroll_kern}
    hints |= {"unroll_patch": unroll_patch, "openmp": openmp}
    given = [name for name, value in hints.items() if value is not None]
    if given:
        warnings.warn(
            f"conv2d: {', '.join(given)} told Theano's C loops how to be written; "
            "convolutions are products here, and have none",
            stacklevel=2,
        )
    if border_mode not in ("valid", "full"):
        raise ValueError(f"conv2d: expected border_mode 'valid' or 'full', got {border_mode!r}")
    images_told, filters_told = _constants(image_shape), _constants(filter_shape)
    if images_told and filters_told and None not in (images_told[1], filters_told[1]):
        assert images_told[1] == filters_told[1], (
            f"conv2d: image_shape has {images_told[1]} channels, filter_shape {filters_told[1]}"
        )
    return abstract_conv.conv2d(
        _of_shape(pt.as_tensor_variable(input), images_told, "input"),
        _of_shape(pt.as_tensor_variable(filters), filters_told, "filters"),
        border_mode=border_mode,
        subsample=subsample,
    )


def _constants(shape: Any) -> list[int | None] | None:
    """Return a shape's lengths as numbers; a constant vector is a shape, too."""
    if shape is None:
        return None
    if not isinstance(shape, Sequence):
        shape = pt.as_tensor_variable(shape).data
    return [None if n is None else int(get_underlying_scalar_constant_value(n)) for n in shape]


def _of_shape(x: TensorVariable, told: list[int | None] | None, name: str) -> TensorVariable:
    """Return `x`, checked when the function runs to be of the shape that was told."""
    if told is None or x.ndim != len(told):
        return x  # what has not 4 dimensions is refused by the convolution
    for axis, length in enumerate(told):
        if length is not None:
            check = CheckAndRaise(
                ValueError, f"conv2d: expected {name} of length {length} in dimension {axis}"
            )
            x = check(x, pt.eq(x.shape[axis], length))
    return x
