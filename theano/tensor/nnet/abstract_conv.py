"""Convolutions of batches of images, in two and three dimensions, and their gradients.

Each is one large product over the elements of all windows, which makes it right for any
stride, dilation and padding. It takes the memory of all the windows, side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytensor.tensor as pt
from pytensor.gradient import pullback
from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet.bilinear import (
    bilinear_kernel_1D,
    bilinear_kernel_2D,
    bilinear_upsampling,
    frac_bilinear_upsampling,
)
from theano.tensor.signal.windows import pad_last, product, window_positions

__all__ = [
    "AbstractConv2d",
    "AbstractConv2d_gradInputs",
    "AbstractConv2d_gradWeights",
    "AbstractConv3d",
    "AbstractConv3d_gradInputs",
    "AbstractConv3d_gradWeights",
    "bilinear_kernel_1D",
    "bilinear_kernel_2D",
    "bilinear_upsampling",
    "conv2d",
    "conv2d_grad_wrt_inputs",
    "conv2d_grad_wrt_weights",
    "conv2d_transpose",
    "conv3d",
    "conv3d_grad_wrt_inputs",
    "conv3d_grad_wrt_weights",
    "frac_bilinear_upsampling",
    "get_conv_output_shape",
]

_NAMED_BORDERS = {
    "valid": lambda extent: (0, 0),
    "full": lambda extent: (extent - 1, extent - 1),
    "half": lambda extent: (extent // 2, extent // 2),
}


def _borders(border_mode: Any, extents: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return how much to pad each dimension before and after, for windows of `extents`."""
    if isinstance(border_mode, str):
        if border_mode not in _NAMED_BORDERS:
            raise ValueError(
                f"invalid border_mode {border_mode!r}: expected one of {sorted(_NAMED_BORDERS)}, "
                "an integer, or a tuple of integers or pairs"
            )
        return [_NAMED_BORDERS[border_mode](extent) for extent in extents]
    modes = [border_mode] * len(extents) if isinstance(border_mode, int) else list(border_mode)
    if len(modes) != len(extents):
        raise ValueError(f"invalid border_mode {border_mode}: expected {len(extents)} items")
    borders = [mode if isinstance(mode, tuple) else (mode, mode) for mode in modes]
    if any(isinstance(n, int) and n < 0 for border in borders for n in border):
        raise ValueError(f"invalid border_mode {border_mode}: expected no negative padding")
    return borders


def _per_axis(value: Any, rank: int, name: str) -> tuple:
    values = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(values) != rank:
        raise ValueError(f"expected {rank} items in {name}, got {value}")
    return values


def get_conv_output_shape(
    image_shape: Sequence[Any],
    kernel_shape: Sequence[Any],
    border_mode: Any,
    subsample: Sequence[Any],
    filter_dilation: Sequence[Any] | None = None,
) -> tuple:
    """Return the shape of a convolution's result.

    Parameters
    ----------
    image_shape : sequence of int or None
        Batch, channels, and the lengths of the image.
    kernel_shape : sequence of int or None
        Filters, channels, and the lengths of a filter.
    border_mode, subsample, filter_dilation
        As for `conv2d`.

    Returns
    -------
    tuple
        With None for each length that is not known.
    """
    rank = len(image_shape) - 2
    dilations = filter_dilation or (1,) * rank
    result = [image_shape[0], kernel_shape[0]]
    for axis in range(rank):
        length, size = image_shape[2 + axis], kernel_shape[2 + axis]
        if length is None or size is None:
            result.append(None)
            continue
        extent = (size - 1) * dilations[axis] + 1
        before, after = _borders(border_mode, [extent] * rank)[axis]
        result.append((length + before + after - extent) // subsample[axis] + 1)
    return tuple(result)


@dataclass(frozen=True)
class _Convolution:
    """A convolution's options, and the convolution itself when called."""

    imshp: Any = None
    kshp: Any = None
    border_mode: Any = "valid"
    subsample: Any = 1
    filter_flip: bool = True
    filter_dilation: Any = 1
    num_groups: int = 1
    rank: ClassVar[int] = 2

    def __call__(self, img: Any, kern: Any) -> TensorVariable:
        """Convolve the images `img` with the filters `kern`."""
        rank = self.rank
        image = _checked(img, self.imshp, rank, "images")
        filters = _checked(kern, self.kshp, rank, "filters")
        subsample = _per_axis(self.subsample, rank, "subsample")
        dilation = _per_axis(self.filter_dilation, rank, "filter_dilation")
        if self.filter_flip:
            filters = filters[(slice(None), slice(None), *[slice(None, None, -1)] * rank)]
        sizes = [_length(filters, 2 + axis) for axis in range(rank)]
        extents = [(size - 1) * step + 1 for size, step in zip(sizes, dilation, strict=True)]
        before, after = zip(*_borders(self.border_mode, extents), strict=True)
        image = pad_last(image, before, after)
        lengths = [image.shape[2 + axis] for axis in range(rank)]
        counts = [
            (length - extent) // step + 1
            for length, extent, step in zip(lengths, extents, subsample, strict=True)
        ]
        positions = window_positions(lengths, counts, sizes, subsample, dilation)
        if self.num_groups == 1:
            return _correlate(image, filters, positions, lengths, counts, sizes)
        return pt.concatenate(
            [
                _correlate(part, kernels, positions, lengths, counts, sizes)
                for part, kernels in zip(
                    _split(image, 1, self.num_groups),
                    _split(filters, 0, self.num_groups),
                    strict=True,
                )
            ],
            axis=1,
        )

    def _result(self, image: TensorVariable, kernels: TensorVariable) -> TensorVariable:
        """Convolve, whatever a subclass does when it is called."""
        return _Convolution.__call__(self, image, kernels)


def _checked(value: Any, shape: Any, rank: int, name: str) -> TensorVariable:
    value = pt.as_tensor_variable(value)
    if value.ndim != rank + 2:
        raise TypeError(f"conv{rank}d: expected {name} of {rank + 2} dimensions, got {value.type}")
    return value if shape is None else pt.specify_shape(value, tuple(shape))


def _length(x: TensorVariable, axis: int) -> Any:
    known = x.type.shape[axis]
    return x.shape[axis] if known is None else known


def _split(x: TensorVariable, axis: int, parts: int) -> list[TensorVariable]:
    size = x.shape[axis] // parts
    before = (slice(None),) * axis
    return [x[(*before, slice(part * size, (part + 1) * size))] for part in range(parts)]


def _correlate(image, filters, positions, lengths, counts, sizes) -> TensorVariable:
    """Multiply each window of each image with each filter.

    image (B, C, *lengths), filters (F, C, *sizes) -> (B, F, *counts)
    """
    rank = len(lengths)
    batch, channels = image.shape[0], image.shape[1]
    rows = image.dimshuffle(0, *range(2, 2 + rank), 1).reshape((-1, channels))
    starts = pt.arange(batch) * product(lengths)
    which = (starts.dimshuffle(0, "x", "x") + positions).flatten()
    windows = rows[which].reshape((batch * product(counts), product(sizes) * channels))
    weights = filters.dimshuffle(*range(2, 2 + rank), 1, 0).reshape(
        (product(sizes) * channels, filters.shape[0])
    )
    result = pt.dot(windows, weights).reshape((batch, *counts, filters.shape[0]))
    return result.dimshuffle(0, 1 + rank, *range(1, 1 + rank))


class AbstractConv2d(_Convolution):
    """Convolve images (B, C, H, W) with filters (F, C, KH, KW): see `conv2d`."""


class AbstractConv3d(_Convolution):
    """Convolve volumes (B, C, D, H, W) with filters (F, C, KD, KH, KW): see `conv3d`."""

    rank = 3


class AbstractConv2d_gradInputs(AbstractConv2d):
    """The gradient of `AbstractConv2d` with respect to the images."""

    def __call__(self, kern: Any, topgrad: Any, shape: Any) -> TensorVariable:
        """Return it for filters, the gradient of the result, and the image's lengths."""
        kern, topgrad = pt.as_tensor_variable(kern), pt.as_tensor_variable(topgrad)
        lengths = [shape[axis] for axis in range(self.rank)]
        sizes = [topgrad.shape[0], kern.shape[1] * self.num_groups, *lengths]
        image = pt.zeros(sizes, dtype=topgrad.dtype)
        return pullback(self._result(image, kern), image, topgrad)


class AbstractConv2d_gradWeights(AbstractConv2d):
    """The gradient of `AbstractConv2d` with respect to the filters."""

    def __call__(self, img: Any, topgrad: Any, shape: Any) -> TensorVariable:
        """Return it for images, the gradient of the result, and the filter's lengths."""
        img, topgrad = pt.as_tensor_variable(img), pt.as_tensor_variable(topgrad)
        lengths = [shape[axis] for axis in range(self.rank)]
        sizes = [topgrad.shape[1], img.shape[1] // self.num_groups, *lengths]
        kernels = pt.zeros(sizes, dtype=topgrad.dtype)
        return pullback(self._result(img, kernels), kernels, topgrad)


class AbstractConv3d_gradInputs(AbstractConv2d_gradInputs):
    """The gradient of `AbstractConv3d` with respect to the volumes."""

    rank = 3


class AbstractConv3d_gradWeights(AbstractConv2d_gradWeights):
    """The gradient of `AbstractConv3d` with respect to the filters."""

    rank = 3


def conv2d(
    input: Any,
    filters: Any,
    input_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Any = (1, 1),
    filter_flip: bool = True,
    image_shape: Any = None,
    filter_dilation: Any = (1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Convolve a batch of images with a set of filters.

    Parameters
    ----------
    input : tensor of shape (B, C, H, W)
    filters : tensor of shape (F, C, KH, KW)
        Of ``C / num_groups`` channels where there are groups.
    input_shape, filter_shape : tuples of int or None, optional
        The shapes as far as they are known; they are checked when the function runs.
    border_mode : {'valid', 'full', 'half'}, int, or tuple of int or pairs
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

    Returns
    -------
    tensor of shape (B, F, H', W')

    Raises
    ------
    TypeError
        `input` or `filters` has not 4 dimensions.
    ValueError
        An option that is not one of those above.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> image = T.constant(numpy.ones((1, 1, 4, 4)))
    >>> T.nnet.conv2d(image, image[:, :, :3, :3]).eval()[0, 0].tolist()
    [[9.0, 9.0], [9.0, 9.0]]
    """
    shape = input_shape if image_shape is None else image_shape
    return AbstractConv2d(
        shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups
    )(input, filters)


def conv3d(
    input: Any,
    filters: Any,
    input_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Any = (1, 1, 1),
    filter_flip: bool = True,
    filter_dilation: Any = (1, 1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Convolve a batch of volumes (B, C, D, H, W) with filters (F, C, KD, KH, KW).

    The parameters are those of `conv2d`, with one dimension more.
    """
    return AbstractConv3d(
        input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups
    )(input, filters)


def _grad_wrt_inputs(convolution: type[AbstractConv2d_gradInputs]):
    def grad_wrt_inputs(
        output_grad: Any,
        filters: Any,
        input_shape: Any,
        filter_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = 1,
        filter_flip: bool = True,
        filter_dilation: Any = 1,
        num_groups: int = 1,
    ) -> TensorVariable:
        """Return the gradient of a convolution with respect to its input.

        Parameters
        ----------
        output_grad : tensor
            The gradient with respect to the convolution's result.
        filters : tensor
        input_shape : sequence of int or scalars, or symbolic vector
            The whole shape of the input.

        The other parameters are those of `conv2d`.
        """
        return convolution(
            None, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups
        )(filters, output_grad, input_shape[2:])

    return grad_wrt_inputs


def _grad_wrt_weights(convolution: type[AbstractConv2d_gradWeights]):
    def grad_wrt_weights(
        input: Any,
        output_grad: Any,
        filter_shape: Any,
        input_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = 1,
        filter_flip: bool = True,
        filter_dilation: Any = 1,
        num_groups: int = 1,
    ) -> TensorVariable:
        """Return the gradient of a convolution with respect to its filters.

        Parameters
        ----------
        input : tensor
        output_grad : tensor
            The gradient with respect to the convolution's result.
        filter_shape : sequence of int or scalars, or symbolic vector
            The whole shape of the filters.

        The other parameters are those of `conv2d`.
        """
        return convolution(
            input_shape, None, border_mode, subsample, filter_flip, filter_dilation, num_groups
        )(input, output_grad, filter_shape[2:])

    return grad_wrt_weights


conv2d_grad_wrt_inputs = _grad_wrt_inputs(AbstractConv2d_gradInputs)
conv3d_grad_wrt_inputs = _grad_wrt_inputs(AbstractConv3d_gradInputs)
conv2d_grad_wrt_weights = _grad_wrt_weights(AbstractConv2d_gradWeights)
conv3d_grad_wrt_weights = _grad_wrt_weights(AbstractConv3d_gradWeights)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    input_dilation: Any = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Any = (1, 1),
    num_groups: int = 1,
) -> TensorVariable:
    """Return the transpose of a convolution: its gradient with respect to the images.

    Parameters
    ----------
    input : tensor of shape (B, F, H', W')
    filters : tensor of shape (F, C, KH, KW)
    output_shape : sequence of int or scalars
        The whole shape (B, C, H, W) of the result.
    input_dilation : pair of int
        The stride of the convolution that is transposed.

    The other parameters are those of `conv2d`.
    """
    return conv2d_grad_wrt_inputs(
        input,
        filters,
        output_shape,
        filter_shape,
        border_mode,
        input_dilation,
        filter_flip,
        filter_dilation,
        num_groups,
    )
