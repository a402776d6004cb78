"""Theano 1.0's `theano.tensor.nnet.conv2d` and `conv2d_transpose`, with its older arguments."""

import warnings
from collections.abc import Sequence
from typing import Any

from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet import abstract_conv

__all__ = ["conv2d", "conv2d_transpose"]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: object = None,
    filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    image_shape: object = None,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
    **kwargs: object,
) -> TensorVariable:
    """Convolve a batch of images with a set of filters.

    Parameters
    ----------
    input : tensor of shape (B, C, H, W)
    filters : tensor of shape (F, C, KH, KW)
        Of ``C / num_groups`` channels where there are groups; of shape (F, H', W', C, KH, KW)
        where they are not shared.
    input_shape, filter_shape : tuple of int, constants or None, optional
        The shapes as far as they are known. They are checked if the flag ``conv.assert_shape`` is
        set.
    border_mode : {'valid', 'full', 'half'}, int, or tuple of int and pairs of int
        How many zeros to put around an image: none, one less than the filter, half of it,
        or a number; for each dimension, or before and after each.
    subsample : pair of int
        The distance from one window to the next.
    filter_flip : bool
        Whether to reverse the filters: a convolution, rather than a correlation.
    image_shape : tuple, optional
        The older name of `input_shape`.
    filter_dilation : pair of int
        The distance of neighbours in a window.
    num_groups : int
        How many groups of channels are convolved on their own.
    unshared : bool
        Whether each window has its own filters.
    **kwargs
        Other arguments of `conv2d` before Theano 0.8, which set how its loops were written.

    Returns
    -------
    tensor of shape (B, F, H', W')

    Raises
    ------
    TypeError
        `input` or `filters` has not 4 dimensions.
    ValueError
        An option that is not one of those above; when the function runs, shapes that do not fit.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> image = T.constant(numpy.ones((1, 1, 4, 4)))
    >>> T.nnet.conv2d(image, image[:, :, :3, :3]).eval()[0, 0].tolist()
    [[9.0, 9.0], [9.0, 9.0]]
    """
    if "imshp_logical" in kwargs or "kshp_logical" in kwargs:
        raise ValueError("conv2d: imshp_logical and kshp_logical are not supported any more")
    if kwargs:
        warnings.warn(f"conv2d: {', '.join(kwargs)} have no effect any more", stacklevel=2)
    if image_shape is not None:
        if input_shape is not None:
            raise ValueError("conv2d: expected input_shape or image_shape, got both")
        warnings.warn("conv2d: image_shape is the older name of input_shape", stacklevel=2)
        input_shape = image_shape
    return abstract_conv.conv2d(
        input,
        filters,
        input_shape,
        filter_shape,
        border_mode,
        subsample,
        filter_flip,
        filter_dilation,
        num_groups,
        unshared,
    )


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Sequence[Any],
    filter_shape: object = None,
    border_mode: object = "valid",
    input_dilation: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Return the transpose of a convolution: its gradient by the images.

    Parameters
    ----------
    input : tensor of shape (B, F, H', W')
    filters : tensor of shape (F, C, KH, KW)
    output_shape : sequence of int, scalars or None
        The shape (B, C, H, W) of the result, of which the last two lengths must be given.
    input_dilation : pair of int
        The stride of the convolution that is transposed.

    The other parameters are those of `conv2d`, of the convolution that is transposed.

    Returns
    -------
    tensor of shape (B, C, H, W)
    """
    return abstract_conv.conv2d_grad_wrt_inputs(
        input,
        filters,
        output_shape,
        filter_shape,
        border_mode,
        input_dilation,
        filter_flip,
        filter_dilation,
        num_groups,
        unshared,
    )
