"""Convolution of images without channels."""

import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet import abstract_conv

__all__ = ["conv2d"]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    image_shape: object = None,
    filter_shape: object = None,
    border_mode: str = "valid",
    subsample: tuple[int, int] = (1, 1),
    **kwargs: object,
) -> TensorVariable:
    """Convolve one image or several with one filter or several.

    Parameters
    ----------
    input : matrix, or tensor of shape (images, rows, columns)
    filters : matrix, or tensor of shape (filters, rows, columns)
    image_shape, filter_shape : tuples of int, optional
        The shapes, where they are known; they change nothing.
    border_mode : {'valid', 'full'}
        Whether filters lie in the image, or overlap it by an element at least.
    subsample : pair of int
        The distance from one position of the filter to the next.
    **kwargs
        Theano's choices of how to compute it; they change nothing.

    Returns
    -------
    tensor of shape ([images,] [filters,] rows, columns)

    Raises
    ------
    TypeError
        Images or filters of other ranks.
    """
    input, filters = pt.as_tensor_variable(input), pt.as_tensor_variable(filters)
    for name, value in (("input", input), ("filters", filters)):
        if value.ndim not in (2, 3):
            raise TypeError(f"conv2d: expected {name} of 2 or 3 dimensions, got {value.type}")
    one_image, one_filter = input.ndim == 2, filters.ndim == 2
    images = (pt.shape_padleft(input) if one_image else input)[:, None]
    kernels = (pt.shape_padleft(filters) if one_filter else filters)[:, None]
    convolved = abstract_conv.conv2d(images, kernels, border_mode=border_mode, subsample=subsample)
    if one_filter:
        convolved = convolved[:, 0]
    return convolved[0] if one_image else convolved
