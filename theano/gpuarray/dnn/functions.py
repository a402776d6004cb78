"""What programs called of cuDNN's layers, by Theano's own: the engine chooses how they run."""

from collections.abc import Sequence
from typing import Any

from theano.tensor.nnet import bn
from theano.tensor.nnet.abstract_conv import conv2d, conv3d
from theano.tensor.signal.pool import pool_2d, pool_3d

__all__ = [
    "dnn_batch_normalization_test",
    "dnn_batch_normalization_train",
    "dnn_conv",
    "dnn_conv3d",
    "dnn_pool",
]


def dnn_conv(
    img: Any,
    kerns: Any,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1),
    dilation: Sequence[int] = (1, 1),
    conv_mode: str = "conv",
    direction_hint: Any = None,
    workmem: Any = None,
    algo: Any = None,
    precision: Any = None,
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
        Accepted: how cuDNN was to compute it, which the engine chooses.

    Returns
    -------
    Variable

    Raises
    ------
    ValueError
        When `conv_mode` is not known.
    """
    flip = _flips("dnn_conv", conv_mode)
    return conv2d(
        img, kerns, None, None, border_mode, tuple(subsample), flip, None, dilation, num_groups
    )


def dnn_conv3d(
    img: Any,
    kerns: Any,
    border_mode: Any = "valid",
    subsample: Sequence[int] = (1, 1, 1),
    dilation: Sequence[int] = (1, 1, 1),
    conv_mode: str = "conv",
    direction_hint: Any = None,
    algo: Any = None,
    precision: Any = None,
    num_groups: int = 1,
) -> Any:
    """Return the convolution of volumes with filters; the parameters are those of `dnn_conv`."""
    flip = _flips("dnn_conv3d", conv_mode)
    return conv3d(img, kerns, None, None, border_mode, tuple(subsample), flip, dilation, num_groups)


def _flips(where: str, conv_mode: str) -> bool:
    if conv_mode not in ("conv", "cross"):
        raise ValueError(f"{where}: conv_mode should be 'conv' or 'cross'; got {conv_mode!r}")
    return conv_mode == "conv"


def dnn_pool(
    img: Any,
    ws: Sequence[int],
    stride: Sequence[int] | None = None,
    mode: str = "max",
    pad: Sequence[int] | None = None,
) -> Any:
    """Return the maxima or averages of windows of images or volumes.

    Parameters
    ----------
    img : tensor of 4 or 5 dimensions
        Batch, channels, then the dimensions of the windows.
    ws : tuple of 2 or 3 int
        Size of a window.
    stride : tuple of int, optional
        From one window to the next; by default 1.
    mode : {'max', 'max_deterministic', 'average_inc_pad', 'average_exc_pad', 'sum'}
        What to take of a window; a maximum is deterministic in any case.
    pad : tuple of int, optional
        How many zeros to put around an image.

    Returns
    -------
    Variable

    Raises
    ------
    ValueError
        When windows do not have 2 or 3 dimensions.
    """
    pools = {2: pool_2d, 3: pool_3d}
    if len(ws) not in pools:
        raise ValueError(f"dnn_pool: windows of 2 or 3 dimensions are needed; got ws={ws!r}")
    if mode == "max_deterministic":
        mode = "max"
    stride = tuple(stride or (1,) * len(ws))
    pad = tuple(pad or (0,) * len(ws))
    return pools[len(ws)](img, ws=tuple(ws), ignore_border=True, stride=stride, pad=pad, mode=mode)


def dnn_batch_normalization_train(
    inputs: Any,
    gamma: Any,
    beta: Any,
    mode: str = "per-activation",
    epsilon: float = 1e-4,
    running_average_factor: float = 0.1,
    running_mean: Any = None,
    running_var: Any = None,
) -> Any:
    """Normalise a batch by its own mean and variance.

    `mode` is what `axes` is in `theano.tensor.nnet.bn.batch_normalization_train`; the other
    parameters and the results are the same.
    """
    return bn.batch_normalization_train(
        inputs, gamma, beta, mode, epsilon, running_average_factor, running_mean, running_var
    )


def dnn_batch_normalization_test(
    inputs: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    var: Any,
    mode: str = "per-activation",
    epsilon: float = 1e-4,
) -> Any:
    """Normalise a batch by a given mean and variance.

    `mode` is what `axes` is in `theano.tensor.nnet.bn.batch_normalization_test`; the other
    parameters and the result are the same.
    """
    return bn.batch_normalization_test(inputs, gamma, beta, mean, var, mode, epsilon)
