"""cuDNN's pooling and normalization as programs call them, by Theano's own."""

from collections.abc import Sequence
from typing import Any

from pytensor.tensor import TensorLike

from theano.tensor.nnet import bn
from theano.tensor.signal.pool import pool_2d, pool_3d

__all__ = [
    "dnn_batch_normalization_test",
    "dnn_batch_normalization_train",
    "dnn_pool",
]


def dnn_pool(
    img: TensorLike,
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
    inputs: TensorLike,
    gamma: TensorLike,
    beta: TensorLike,
    mode: str = "per-activation",
    epsilon: float = 1e-4,
    running_average_factor: float = 0.1,
    running_mean: object = None,
    running_var: object = None,
) -> Any:
    """Normalise a batch by its own mean and variance.

    `mode` is what `axes` is in `theano.tensor.nnet.bn.batch_normalization_train`; the other
    parameters and the results are the same.
    """
    return bn.batch_normalization_train(
        inputs, gamma, beta, mode, epsilon, running_average_factor, running_mean, running_var
    )


def dnn_batch_normalization_test(
    inputs: TensorLike,
    gamma: TensorLike,
    beta: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    mode: str = "per-activation",
    epsilon: float = 1e-4,
) -> Any:
    """Normalise a batch by a given mean and variance.

    `mode` is what `axes` is in `theano.tensor.nnet.bn.batch_normalization_test`; the other
    parameters and the result are the same.
    """
    return bn.batch_normalization_test(inputs, gamma, beta, mean, var, mode, epsilon)
