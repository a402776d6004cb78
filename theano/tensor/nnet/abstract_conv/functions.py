"""Convolutions of batches of images, in one to three dimensions, and their gradients."""

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.nnet.abstract_conv.operators import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
)
from theano.tensor.nnet.abstract_conv.shapes import get_conv_output_shape

__all__ = [
    "causal_conv1d",
    "conv2d",
    "conv2d_grad_wrt_inputs",
    "conv2d_grad_wrt_weights",
    "conv3d",
    "conv3d_grad_wrt_inputs",
    "conv3d_grad_wrt_weights",
    "separable_conv2d",
    "separable_conv3d",
]


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: object = None,
    filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Convolve a batch of images: `theano.tensor.nnet.conv2d` without its older arguments.

    The parameters, the result and the errors are those of that function.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> image = T.constant(numpy.ones((1, 1, 4, 4)))
    >>> conv2d(image, image[:, :, :3, :3], border_mode="half").shape.eval().tolist()
    [1, 1, 4, 4]
    """
    return known_tensor(
        AbstractConv2d(
            input_shape,
            filter_shape,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
            unshared,
        )(input, filters)
    )


def conv3d(
    input: TensorLike,
    filters: TensorLike,
    input_shape: object = None,
    filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Convolve a batch of volumes (B, C, D, H, W) with filters (F, C, KD, KH, KW).

    The parameters are those of `conv2d`, with one dimension more; filters are shared.
    """
    return known_tensor(
        AbstractConv3d(
            input_shape,
            filter_shape,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
        )(input, filters)
    )


def separable_conv2d(
    input: TensorLike,
    depthwise_filters: object,
    pointwise_filters: object,
    num_channels: int,
    input_shape: object = None,
    depthwise_filter_shape: object = None,
    pointwise_filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
) -> TensorVariable:
    """Convolve each channel on its own, and then mix the channels of each pixel.

    Parameters
    ----------
    input : tensor of shape (B, C, H, W)
    depthwise_filters : tensor of shape (C * M, 1, KH, KW)
        M filters for each channel.
    pointwise_filters : tensor of shape (F, C * M, 1, 1)
        How channels are mixed.
    num_channels : int
        C.
    input_shape, depthwise_filter_shape, pointwise_filter_shape : tuple, optional
        The shapes as far as they are known.

    The other parameters are those of `conv2d`, for the first of the two convolutions.

    Returns
    -------
    tensor of shape (B, F, H', W')
    """
    return _separable(
        conv2d,
        (input, depthwise_filters, pointwise_filters, num_channels),
        (input_shape, depthwise_filter_shape, pointwise_filter_shape),
        (border_mode, subsample, filter_flip, filter_dilation),
    )


def separable_conv3d(
    input: TensorLike,
    depthwise_filters: object,
    pointwise_filters: object,
    num_channels: int,
    input_shape: object = None,
    depthwise_filter_shape: object = None,
    pointwise_filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
) -> TensorVariable:
    """Return the same as `separable_conv2d` with volumes, whose filters have one dimension more."""
    return _separable(
        conv3d,
        (input, depthwise_filters, pointwise_filters, num_channels),
        (input_shape, depthwise_filter_shape, pointwise_filter_shape),
        (border_mode, subsample, filter_flip, filter_dilation),
    )


def _separable(convolve: Callable, operands: tuple, shapes: tuple, options: tuple) -> Any:
    image, depthwise, pointwise, channels = operands
    image_shape, depthwise_shape, pointwise_shape = shapes
    border_mode, subsample, filter_flip, dilation = options
    between = None
    if image_shape is not None and depthwise_shape is not None:
        between = get_conv_output_shape(
            image_shape, depthwise_shape, border_mode, subsample, dilation
        )
    of_channels = convolve(
        image,
        depthwise,
        image_shape,
        depthwise_shape,
        border_mode,
        subsample,
        filter_flip,
        dilation,
        channels,
    )
    return convolve(of_channels, pointwise, between, pointwise_shape, filter_flip=filter_flip)


def causal_conv1d(
    input: TensorLike,
    filters: TensorLike,
    filter_shape: Sequence[Any],
    input_shape: Sequence[Any] | None = None,
    subsample: int = 1,
    filter_flip: bool = True,
    filter_dilation: int = 1,
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Convolve sequences so that no element of the result depends on later ones of the input.

    As many zeros are put before a sequence as a filter has elements before its last one: van den
    Oord et al., WaveNet (2016), section 2.1.

    Parameters
    ----------
    input : tensor of shape (B, C, length)
    filters : tensor of shape (F, C, size)
    filter_shape : sequence of int, constants or None
        The shape of the filters, of which the last length must be given.
    input_shape : sequence of int, constants or None, optional

    The other parameters are those of `conv2d`, for one dimension.

    Returns
    -------
    tensor of shape (B, F, length / subsample)

    Raises
    ------
    ValueError
        `input` or `filters` has not 3 dimensions, or a shape has not 3 lengths.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, w = T.constant([[[1.0, 2.0, 3.0]]]), T.constant([[[1.0, 10.0]]])
    >>> causal_conv1d(x, w, (1, 1, 2)).eval()[0, 0].tolist()
    [1.0, 12.0, 23.0]
    """
    images, kernels = pt.as_tensor_variable(input), pt.as_tensor_variable(filters)
    for name, value in (("input", images), ("filters", kernels)):
        if value.ndim != 3:
            raise ValueError(f"causal_conv1d: expected {name} of 3 dimensions, got {value.type}")
    for name, shape in (("input_shape", input_shape), ("filter_shape", filter_shape)):
        if shape is not None and len(shape) != 3:
            raise ValueError(f"causal_conv1d: expected 3 lengths in {name}, got {shape}")
    before = filter_dilation * (int(filter_shape[2]) - 1)
    result = conv2d(
        images.dimshuffle(0, 1, 2, "x"),
        kernels.dimshuffle(0, 1, 2, "x"),
        None if input_shape is None else (*input_shape, 1),
        (*filter_shape, 1),
        ((before, 0), 0),
        (subsample, 1),
        filter_flip,
        (filter_dilation, 1),
        num_groups,
        unshared,
    )
    return result[:, :, :, 0]


def conv2d_grad_wrt_inputs(
    output_grad: TensorLike,
    filters: TensorLike,
    input_shape: object,
    filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Return the gradient of a convolution by its images.

    Parameters
    ----------
    output_grad : tensor of shape (B, F, H', W')
        The gradient by the convolution's result.
    filters : tensor of shape (F, C, KH, KW)
    input_shape : sequence of int, scalars or None
        The shape of the images, of which the last two lengths must be given: with a stride,
        several give results of the same shape.

    The other parameters are those of `conv2d`.

    Returns
    -------
    tensor of shape (B, C, H, W)

    Raises
    ------
    ValueError
        A length of `input_shape` is missing; when the function runs, shapes that do not fit.
    """
    declared, lengths = _declared_shape(input_shape, 4, "conv2d_grad_wrt_inputs: input_shape")
    return known_tensor(
        AbstractConv2d_gradInputs(
            declared,
            filter_shape,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
            unshared,
        )(filters, output_grad, lengths)
    )


def conv3d_grad_wrt_inputs(
    output_grad: TensorLike,
    filters: TensorLike,
    input_shape: object,
    filter_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Return the gradient of a convolution of volumes by them: see `conv2d_grad_wrt_inputs`."""
    declared, lengths = _declared_shape(input_shape, 5, "conv3d_grad_wrt_inputs: input_shape")
    return known_tensor(
        AbstractConv3d_gradInputs(
            declared, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups
        )(filters, output_grad, lengths)
    )


def conv2d_grad_wrt_weights(
    input: TensorLike,
    output_grad: TensorLike,
    filter_shape: object,
    input_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> TensorVariable:
    """Return the gradient of a convolution by its filters.

    Parameters
    ----------
    input : tensor of shape (B, C, H, W)
    output_grad : tensor of shape (B, F, H', W')
        The gradient by the convolution's result.
    filter_shape : sequence of int, scalars or None
        The shape of the filters, of which the last two lengths must be given.

    The other parameters are those of `conv2d`.

    Returns
    -------
    tensor of shape (F, C, KH, KW)

    Raises
    ------
    ValueError
        A length of `filter_shape` is missing; when the function runs, shapes that do not fit.
    """
    rank = 6 if unshared else 4
    declared, sizes = _declared_shape(filter_shape, rank, "conv2d_grad_wrt_weights: filter_shape")
    return known_tensor(
        AbstractConv2d_gradWeights(
            input_shape,
            declared,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
            unshared,
        )(input, output_grad, sizes[-2:])
    )


def conv3d_grad_wrt_weights(
    input: TensorLike,
    output_grad: TensorLike,
    filter_shape: object,
    input_shape: object = None,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Sequence[int] = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Return the gradient of a convolution of volumes by filters: see `conv2d_grad_wrt_weights`."""
    declared, sizes = _declared_shape(filter_shape, 5, "conv3d_grad_wrt_weights: filter_shape")
    return known_tensor(
        AbstractConv3d_gradWeights(
            input_shape, declared, border_mode, subsample, filter_flip, filter_dilation, num_groups
        )(input, output_grad, sizes)
    )


def _declared_shape(shape: Any, rank: int, name: str) -> tuple[list, list]:
    """Return a shape with None for what is not constant, and its last lengths, which must be there."""
    entries = [shape[axis] for axis in range(rank)]
    if not isinstance(shape, Variable) and len(shape) != rank:
        raise ValueError(f"{name}: expected {rank} lengths, got {shape}")
    lengths = entries[2 if rank < 6 else 4 :]
    if any(length is None for length in lengths):
        raise ValueError(f"{name}: expected the last {len(lengths)} lengths, got {shape}")
    constant = [
        entry if not isinstance(entry, Variable) or isinstance(entry, Constant) else None
        for entry in entries
    ]
    return constant, lengths
