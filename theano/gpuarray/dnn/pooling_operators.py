"""cuDNN's pooling and its gradient as programs applied them, by Theano's own operators."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike

from theano.support.data_classes import dataclass
from theano.tensor.signal.pool import AveragePoolGrad, MaxPoolGrad, Pool

__all__ = ["GpuDnnPool", "GpuDnnPoolGrad"]

# cuDNN's modes -> Theano's; the greatest element is found in one order on every engine
_MODES = {
    "max": "max",
    "max_deterministic": "max",
    "average": "average_inc_pad",
    "average_inc_pad": "average_inc_pad",
    "average_exc_pad": "average_exc_pad",
}


@dataclass(frozen=True)
class _Pooling:
    """Pooling of images or volumes that leaves out windows which reach over the border.

    Parameters
    ----------
    mode : {'max', 'max_deterministic', 'average_inc_pad', 'average_exc_pad'}
        What to take of a window; ``'average'`` is an older name of ``'average_inc_pad'``.

    Raises
    ------
    AssertionError
        Another mode.
    """

    mode: str = "max"

    def __post_init__(self) -> None:
        if self.mode not in _MODES:
            name = type(self).__name__
            raise AssertionError(f"{name}: expected a mode of {list(_MODES)}, got {self.mode!r}")
        object.__setattr__(self, "mode", _MODES[self.mode])


class GpuDnnPool(_Pooling):
    """A maximum or mean of each window.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> from theano.gpuarray.dnn import GpuDnnPool
    >>> image = T.constant(np.arange(9.0).reshape((1, 1, 3, 3)))
    >>> GpuDnnPool("max")(image, (2, 2), (1, 1), (0, 0)).eval()[0, 0].tolist()
    [[4.0, 5.0], [7.0, 8.0]]
    """

    def __call__(self, img: TensorLike, ws: TensorLike, stride: object, pad: object) -> Any:
        """Return the pooled images.

        Parameters
        ----------
        img : tensor of shape (batch, channels, rows, columns), or of volumes
        ws, stride, pad : 2 or 3 int, or integer vectors
            The shape of a window, the distance from one to the next, and how many zeros to put
            around.
        """
        img = pt.as_tensor_variable(img)
        return Pool(True, self.mode, img.ndim - 2)(img, ws, stride, pad)


class GpuDnnPoolGrad(_Pooling):
    """The gradient of `GpuDnnPool` by the images."""

    def __call__(
        self,
        inp: TensorLike,
        out: TensorLike,
        out_grad: object,
        ws: TensorLike,
        stride: object,
        pad: object,
    ) -> Any:
        """Return the gradient, of the images' shape.

        Parameters
        ----------
        inp : tensor of shape (batch, channels, rows, columns), or of volumes
        out, out_grad : tensors
            What the images were pooled to, and the gradient by it.
        ws, stride, pad
            As for `GpuDnnPool`.
        """
        inp = pt.as_tensor_variable(inp)
        rank = inp.ndim - 2
        if self.mode == "max":
            return MaxPoolGrad(True, rank)(inp, out, out_grad, ws, stride, pad)
        return AveragePoolGrad(True, self.mode, rank)(inp, out_grad, ws, stride, pad)
