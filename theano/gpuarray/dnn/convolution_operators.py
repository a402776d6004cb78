"""cuDNN's convolutions as programs applied them: to a description, and to memory for the result."""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike

from theano.gpuarray.dnn.convolutions import convolution_of
from theano.support.data_classes import dataclass

__all__ = ["GpuDnnConv", "GpuDnnConvDesc", "GpuDnnConvGradI", "GpuDnnConvGradW"]


@dataclass(frozen=True)
class GpuDnnConvDesc:
    """The description of a convolution; applied to the shape of the filters, it is that still.

    Parameters
    ----------
    border_mode, subsample, dilation, num_groups
        As for `theano.tensor.nnet.conv2d`; with three of each, images are volumes.
    conv_mode : {'conv', 'cross'}
        Whether the filters are flipped, or not.
    precision : str
        Accepted: in which dtype cuDNN was to compute.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> images = T.constant(np.ones((1, 1, 3, 3)))
    >>> filters, room = images[:, :, :2, :2], images[:, :, 1:, 1:]
    >>> description = GpuDnnConvDesc("valid")(filters.shape)
    >>> GpuDnnConv()(images, filters, room, description).eval()[0, 0].tolist()
    [[4.0, 4.0], [4.0, 4.0]]
    """

    border_mode: Any
    subsample: Sequence[int] = (1, 1)
    dilation: Sequence[int] = (1, 1)
    conv_mode: str = "conv"
    precision: str = "float32"
    num_groups: int = 1

    def __call__(self, kern_shape: object) -> "GpuDnnConvDesc":
        """Return the description for filters of a shape."""
        return self


@dataclass(frozen=True)
class _Convolution:
    """A convolution that is applied to a description.

    Parameters
    ----------
    algo, inplace
        Accepted: how cuDNN was to compute it, and where, which the engine chooses.
    num_groups : int
        How many groups of channels are convolved on their own.
    """

    algo: str | None = None
    inplace: bool = False
    num_groups: int = 1

    def _result(
        self, direction: str, operands: Sequence, output: Any, desc: GpuDnnConvDesc, alpha, beta
    ) -> Any:
        output = pt.as_tensor_variable(output)
        convolution = convolution_of(
            direction,
            desc.border_mode,
            desc.subsample,
            desc.dilation,
            desc.conv_mode,
            max(self.num_groups, desc.num_groups),
            type(self).__name__,
        )
        lengths = [] if direction == "forward" else [output.shape[2:]]
        result: Any = convolution(*operands, *lengths)
        if alpha is not None:
            result = pt.cast(alpha, result.dtype) * result
        return result if beta is None else result + pt.cast(beta, result.dtype) * output


class GpuDnnConv(_Convolution):
    """The convolution of images with filters."""

    def __call__(
        self,
        img: TensorLike,
        kern: TensorLike,
        output: object,
        desc: GpuDnnConvDesc,
        alpha=None,
        beta=None,
    ):
        """Return ``alpha`` times the convolution, and ``beta`` times `output` if it is given."""
        return self._result("forward", (img, kern), output, desc, alpha, beta)


class GpuDnnConvGradW(_Convolution):
    """The gradient by the filters, which are as large as `output`."""

    def __call__(
        self,
        img: TensorLike,
        topgrad: TensorLike,
        output: object,
        desc: GpuDnnConvDesc,
        alpha=None,
        beta=None,
    ):
        """Return ``alpha`` times the gradient, and ``beta`` times `output` if it is given."""
        return self._result("weights", (img, topgrad), output, desc, alpha, beta)


class GpuDnnConvGradI(_Convolution):
    """The gradient by the images, which are as large as `output`."""

    def __call__(
        self,
        kern: TensorLike,
        topgrad: TensorLike,
        output: object,
        desc: GpuDnnConvDesc,
        alpha=None,
        beta=None,
    ):
        """Return ``alpha`` times the gradient, and ``beta`` times `output` if it is given."""
        return self._result("inputs", (kern, topgrad), output, desc, alpha, beta)
