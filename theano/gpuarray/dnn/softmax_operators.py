"""cuDNN's softmax and its gradient as programs applied them to images."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike, special
from pytensor.tensor.variable import TensorVariable

from theano.support.data_classes import dataclass
from theano.tensor.nnet.nnet import SoftmaxGrad

__all__ = ["GpuDnnSoftmax", "GpuDnnSoftmaxGrad"]

# what is normalised -> over which dimensions of images
_AXES = {"channel": (1,), "instance": (1, 2, 3)}


@dataclass(frozen=True)
class _SoftmaxOfImages:
    """A softmax over the channels of each place, or over all elements of each image.

    Parameters
    ----------
    algo : {'fast', 'accurate', 'log'}
        The softmax, or its logarithm; the first two do the same.
    mode : {'channel', 'instance'}
        Whether the channels of a place are normalised, or the elements of an image.

    Raises
    ------
    AssertionError
        Another name.
    """

    algo: str
    mode: str

    def __post_init__(self) -> None:
        for what, given, known in (
            ("algo", self.algo, ("fast", "accurate", "log")),
            ("mode", self.mode, tuple(_AXES)),
        ):
            if given not in known:
                raise AssertionError(
                    f"{type(self).__name__}: expected {what} to be of {known}, got {given!r}"
                )

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions over which is normalised."""
        return _AXES[self.mode]

    def _images(self, what: str, given: Any) -> TensorVariable:
        images = pt.as_tensor_variable(given)
        if images.ndim != 4:
            raise AssertionError(
                f"{type(self).__name__}: expected {what} of 4 dimensions, got {images.type}"
            )
        return images


class GpuDnnSoftmax(_SoftmaxOfImages):
    """The softmax of images.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> from theano.gpuarray.dnn import GpuDnnSoftmax
    >>> images = T.constant(np.zeros((1, 2, 1, 2)))
    >>> GpuDnnSoftmax("accurate", "channel")(images).eval().ravel().tolist()
    [0.5, 0.5, 0.5, 0.5]
    """

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Return the softmax of a tensor of shape (batch, channels, rows, columns)."""
        x = self._images("x", x)
        if self.algo == "log":
            return special.log_softmax(x, axis=self.axes)
        return special.softmax(x, axis=self.axes)


class GpuDnnSoftmaxGrad(_SoftmaxOfImages):
    """The gradient of `GpuDnnSoftmax`."""

    def __call__(self, dy: TensorLike, sm: object) -> TensorVariable:
        """Return the gradient by the images.

        Parameters
        ----------
        dy, sm : tensors of shape (batch, channels, rows, columns)
            The gradient by the softmax, and the softmax or its logarithm itself.
        """
        dy, sm = self._images("dy", dy), self._images("sm", sm)
        if self.algo == "log":
            return dy - pt.exp(sm) * dy.sum(self.axes, keepdims=True)
        return SoftmaxGrad(axis=self.axes)(dy, sm)
