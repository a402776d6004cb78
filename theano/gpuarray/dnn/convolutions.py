"""cuDNN's convolutions as programs call them, by Theano's own: the engine chooses how they run."""

import warnings
from collections.abc import Sequence
from typing import Any

from pytensor.tensor import TensorLike

from theano.tensor.nnet.abstract_conv import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv2d_gradWeights,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
    AbstractConv3d_gradWeights,
    BaseAbstractConv,
)

__all__ = [
    "convolution_of",
    "dnn_conv",
    "dnn_conv3d",
    "dnn_gradinput",
    "dnn_gradinput3d",
    "dnn_gradweight",
    "dnn_gradweight3d",
]

_CONVOLUTIONS: dict[tuple[str, int], type] = {
    ("forward", 2): AbstractConv2d,
    ("weights", 2): AbstractConv2d_gradWeights,
    ("inputs", 2): AbstractConv2d_gradInputs,
    ("forward", 3): AbstractConv3d,
    ("weights", 3): AbstractConv3d_gradWeights,
    ("inputs", 3): AbstractConv3d_gradInputs,
}


def convolution_of(
    direction: str,
    border_mode: object,
    subsample: Sequence[int],
    dilation: Sequence[int],
    conv_mode: str,
    num_groups: int,
    where: str,
) -> BaseAbstractConv:
    """Return Theano's operator that does what cuDNN's would.

    Parameters
    ----------
    direction : {'forward', 'weights', 'inputs'}
        The convolution, or its gradient by the filters or by the images.
    border_mode, subsample, dilation, num_groups
        As for `theano.tensor.nnet.conv2d`.
    conv_mode : {'conv', 'cross'}
        Whether the filters are flipped, or not.
    where : str
        What asks for it, for messages.

    Raises
    ------
    ValueError
        An option that is not one of these.
    """
    if conv_mode not in ("conv", "cross"):
        raise ValueError(f"{where}: conv_mode should be 'conv' or 'cross'; got {conv_mode!r}")
    rank = len(subsample)
    if (direction, rank) not in _CONVOLUTIONS:
        raise ValueError(f"{where}: 2 or 3 dimensions are needed; got subsample={subsample!r}")
    if isinstance(border_mode, list):
        border_mode = tuple(border_mode)
    return _CONVOLUTIONS[direction, rank](
        border_mode=border_mode,
        subsample=tuple(subsample),
        filter_flip=conv_mode == "conv",
        filter_dilation=tuple(dilation),
        num_groups=num_groups,
    )


def dnn_conv(
    img: TensorLike,
    kerns: TensorLike,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    conv_mode: str = "conv",
    direction_hint: object = None,
    workmem: object = None,
    algo: object = None,
    precision: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the convolution of images with filters.

    Parameters
    ----------
    img : tensor of shape (batch, channels, rows, columns)
    kerns : tensor of shape (filters, channels, rows, columns)
    border_mode, subsample, dilation, num_groups
        As for `theano.tensor.nnet.conv2d`.
    conv_mode : {'conv', 'cross'}
        Whether the filters are flipped, or not.
    direction_hint, workmem, algo, precision
        Accepted: how cuDNN was to compute it, which the engine chooses. `workmem` is the older
        name of `algo`.

    Returns
    -------
    Variable

    Raises
    ------
    ValueError
        When `conv_mode` is not known, or `workmem` and `algo` are both given.
    """
    if workmem is not None:
        if algo is not None:
            raise ValueError("dnn_conv: expected workmem or algo, got both")
        warnings.warn("dnn_conv: workmem is the older name of algo", stacklevel=2)
    convolution = convolution_of(
        "forward", border_mode, subsample, dilation, conv_mode, num_groups, "dnn_conv"
    )
    return convolution(img, kerns)


def dnn_conv3d(
    img: TensorLike,
    kerns: TensorLike,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    dilation: Sequence[int] = (1, 1, 1),
    conv_mode: str = "conv",
    direction_hint: object = None,
    algo: object = None,
    precision: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the convolution of volumes with filters; the parameters are those of `dnn_conv`."""
    convolution = convolution_of(
        "forward", border_mode, subsample, dilation, conv_mode, num_groups, "dnn_conv3d"
    )
    return convolution(img, kerns)


def dnn_gradweight(
    img: TensorLike,
    topgrad: TensorLike,
    kerns_shp: Any,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    conv_mode: str = "conv",
    precision: Any = None,
    algo: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the gradient of `dnn_conv` by the filters.

    Parameters
    ----------
    img : tensor of shape (batch, channels, rows, columns)
    topgrad : tensor
        The gradient by the result.
    kerns_shp : sequence of int or scalars, or symbolic vector
        The whole shape of the filters.

    The other parameters are those of `dnn_conv`; with three of each, images are volumes.
    """
    gradient = convolution_of(
        "weights", border_mode, subsample, dilation, conv_mode, num_groups, "dnn_gradweight"
    )
    return gradient(img, topgrad, kerns_shp[2:])


def dnn_gradweight3d(
    img: TensorLike,
    topgrad: TensorLike,
    kerns_shp: object,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    dilation: Sequence[int] = (1, 1, 1),
    conv_mode: str = "conv",
    precision: object = None,
    algo: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the gradient of `dnn_conv3d` by the filters: see `dnn_gradweight`."""
    return dnn_gradweight(
        img,
        topgrad,
        kerns_shp,
        border_mode,
        subsample,
        dilation,
        conv_mode,
        precision,
        algo,
        num_groups,
    )


def dnn_gradinput(
    kerns: TensorLike,
    topgrad: TensorLike,
    img_shp: Any,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    conv_mode: str = "conv",
    precision: Any = None,
    algo: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the gradient of `dnn_conv` by the images.

    Parameters
    ----------
    kerns : tensor of shape (filters, channels, rows, columns)
    topgrad : tensor
        The gradient by the result.
    img_shp : sequence of int or scalars, or symbolic vector
        The whole shape of the images.

    The other parameters are those of `dnn_conv`; with three of each, images are volumes.
    """
    gradient = convolution_of(
        "inputs", border_mode, subsample, dilation, conv_mode, num_groups, "dnn_gradinput"
    )
    return gradient(kerns, topgrad, img_shp[2:])


def dnn_gradinput3d(
    kerns: TensorLike,
    topgrad: TensorLike,
    img_shp: object,
    border_mode: object = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    dilation: Sequence[int] = (1, 1, 1),
    conv_mode: str = "conv",
    precision: object = None,
    algo: object = None,
    num_groups: int = 1,
) -> Any:
    """Return the gradient of `dnn_conv3d` by the volumes: see `dnn_gradinput`."""
    return dnn_gradinput(
        kerns,
        topgrad,
        img_shp,
        border_mode,
        subsample,
        dilation,
        conv_mode,
        precision,
        algo,
        num_groups,
    )
