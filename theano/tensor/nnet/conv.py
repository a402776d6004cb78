"""Theano 1.0's `theano.tensor.nnet.conv`: the older `conv2d` and its operator."""

import warnings
from collections.abc import Sequence
from typing import Any, cast

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.variable import TensorConstant, TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.nnet.abstract_conv import AbstractConv2d
from theano.tensor.nnet.abstract_conv.shapes import (
    declared_lengths,
    get_conv_output_shape,
    get_conv_shape_1axis,
)

__all__ = ["ConvOp", "conv2d"]

# In Theano, False without SciPy.
imported_scipy_signal = True


class ConvOp(AbstractConv2d):
    """Convolve images (B, C, H, W) with filters (F, C, KH, KW): Theano's first convolution.

    Parameters
    ----------
    imshp : tuple of int or None, optional
        (C, H, W) of the images, or (H, W) of images of one channel, as far as they are known.
    kshp : tuple of int or None, optional
        (KH, KW).
    nkern, bsize : int, optional
        F and B.
    dx, dy : int
        The distance from one window to the next, in rows and in columns.
    output_mode : {'valid', 'full'}
    unroll_batch, unroll_kern, unroll_patch, verbose, version, direction_hint, openmp
        How Theano's own C loops were to be written. There are none here, so there is nothing to
        choose: a warning says so of the first three.

    Raises
    ------
    ValueError
        An option that is not one of those above; shapes in which there is no window; when the
        function runs, an array that is not of the declared shape.

    Attributes
    ----------
    outshp, fulloutshp : tuple of int or None
        The lengths of the result, with and without the stride.
    """

    def __init__(
        self,
        imshp: Sequence | None = None,
        kshp: Sequence | None = None,
        nkern: int | None = None,
        bsize: int | None = None,
        dx: int | None = 1,
        dy: int | None = 1,
        output_mode: str = "valid",
        unroll_batch: int | None = None,
        unroll_kern: int | None = None,
        unroll_patch: bool | None = None,
        imshp_logical: object = None,
        kshp_logical: object = None,
        kshp_logical_top_aligned: bool = True,
        verbose: int = 0,
        version: object = -1,
        direction_hint: str = "forward",
        openmp: bool | None = None,
    ):
        if imshp_logical is not None or kshp_logical is not None:
            raise NotImplementedError(
                "ConvOp: imshp_logical and kshp_logical put zeros between pixels for Theano's own "
                "gradients; conv2d_transpose and filter_dilation do so here"
            )
        _warn_of_unrolling(
            unroll_batch=unroll_batch, unroll_kern=unroll_kern, unroll_patch=unroll_patch
        )
        if output_mode not in ("valid", "full"):
            raise ValueError(f"ConvOp: expected output_mode 'valid' or 'full', got {output_mode!r}")
        image = (None,) * 3 if imshp is None else tuple(imshp)
        image = (1, *image) if len(image) == 2 else image
        sizes = (None,) * 2 if kshp is None else tuple(kshp)
        if len(image) != 3 or len(sizes) != 2:
            raise ValueError(
                f"ConvOp: expected 2 or 3 lengths in imshp and 2 in kshp, got {imshp} and {kshp}"
            )
        stride = (1 if dx is None else dx, 1 if dy is None else dy)
        super().__init__((bsize, *image), (nkern, image[0], *sizes), output_mode, stride)
        self.dx, self.dy = self.subsample
        self.bsize, self.nkern, self.out_mode = bsize, nkern, output_mode
        self.outshp = get_conv_output_shape(self.imshp, self.kshp, output_mode, stride)[2:]
        self.fulloutshp = get_conv_output_shape(self.imshp, self.kshp, output_mode, (1, 1))[2:]
        if any(length is not None and length < 1 for length in self.outshp):
            raise ValueError(
                f"ConvOp: there is no window of shape {sizes} in images of shape {image}"
            )

    @staticmethod
    def getOutputShape(
        inshp: Sequence, kshp: Sequence, stride: Sequence[int] = (1, 1), mode: str = "valid"
    ) -> tuple:
        """Return (rows, columns) of the result, of those of images and filters."""
        axes = zip(inshp, kshp, stride, strict=True)
        return tuple(get_conv_shape_1axis(n, k, mode, step) for n, k, step in axes)

    def make_node(self, inputs, kerns):
        """Apply it to images and filters of one dtype."""
        image, filters = pt.as_tensor_variable(inputs), pt.as_tensor_variable(kerns)
        if image.dtype != filters.dtype:
            raise NotImplementedError(
                f"ConvOp: expected images and filters of one dtype, got {image.dtype} and "
                f"{filters.dtype}"
            )
        return super().make_node(
            _of_shape(image, self.imshp, "input"), _of_shape(filters, self.kshp, "filters")
        )


def conv2d(
    input: TensorLike,
    filters: TensorLike,
    image_shape: object = None,
    filter_shape: Any = None,
    border_mode: str = "valid",
    subsample: Any = (1, 1),
    **kargs: Any,
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
    **kargs
        Other arguments of `ConvOp`.

    Returns
    -------
    tensor of shape (B, F, H', W')

    Raises
    ------
    NotScalarConstantError
        A length in a shape is a variable that is not constant.
    AssertionError
        The shapes give different numbers of channels.
    ValueError
        When the function runs: an array is not of the declared shape, or a filter is
        larger than an image that nothing is put around.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.nnet.conv import conv2d
    >>> image = T.constant(numpy.ones((1, 1, 4, 4)))
    >>> conv2d(image, image[:, :, :3, :3], (1, 1, 4, 4)).eval()[0, 0].tolist()
    [[9.0, 9.0], [9.0, 9.0]]
    """
    image, kernels = _constants(image_shape), _constants(filter_shape)
    assert None in (image[1], kernels[1]) or image[1] == kernels[1], (
        f"conv2d: image_shape has {image[1]} channels, filter_shape {kernels[1]}"
    )
    if image[1] is None:
        image[1] = kernels[1]
    dx, dy = subsample
    operator = ConvOp(
        image[1:], kernels[2:], kernels[0], image[0], dx, dy, output_mode=border_mode, **kargs
    )
    return known_tensor(operator(input, filters))


def _warn_of_unrolling(**hints: object) -> None:
    given = [name for name, value in hints.items() if value is not None]
    if given:
        warnings.warn(
            f"{', '.join(given)} set how Theano's C loops of convolutions were written; "
            "there are none here",
            stacklevel=4,
        )


def _constants(shape: Any) -> list[int | None]:
    """Return a shape's lengths as numbers; a constant vector is a shape, too."""
    if shape is None:
        return [None] * 4
    if not isinstance(shape, Sequence):
        shape = cast("TensorConstant", pt.as_tensor_variable(shape)).data
    return [None if n is None else int(get_underlying_scalar_constant_value(n)) for n in shape]


def _of_shape(x: TensorVariable, declared: Sequence[int | None], name: str) -> TensorVariable:
    """Return `x`, checked when the function runs to be of the declared shape."""
    if x.ndim != len(declared):
        return x  # what has not 4 dimensions is refused by the convolution
    for axis, holds in declared_lengths(x, declared).items():
        check = CheckAndRaise(
            ValueError, f"conv2d: expected {name} of length {declared[axis]} in dimension {axis}"
        )
        x = known_tensor(check(x, holds))
    return x
