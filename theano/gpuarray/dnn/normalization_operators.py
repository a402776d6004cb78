"""cuDNN's batch normalisation and its gradient as programs applied them, by Theano's own."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike

from theano.support.data_classes import dataclass
from theano.tensor.nnet import bn

__all__ = ["GpuDnnBatchNorm", "GpuDnnBatchNormGrad", "GpuDnnBatchNormInference"]


@dataclass(frozen=True)
class _Normalisation:
    """A normalisation of images or volumes.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}
        Whether each element has its own mean, or each channel.

    Raises
    ------
    AssertionError
        Another mode.
    """

    mode: str = "per-activation"

    def __post_init__(self) -> None:
        if self.mode not in ("per-activation", "spatial"):
            raise AssertionError(
                f"{type(self).__name__}: expected mode 'per-activation' or 'spatial', "
                f"got {self.mode!r}"
            )


@dataclass(frozen=True)
class GpuDnnBatchNorm(_Normalisation):
    """The normalisation of a batch by its own mean and variance.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}
        Whether each element has its own mean, or each channel.
    running_averages : bool
        Whether it is applied to running averages, too.
    inplace_running_mean, inplace_running_var, inplace_output : bool
        Accepted: the engine decides on memory itself.
    """

    running_averages: bool = False
    inplace_running_mean: bool = False
    inplace_running_var: bool = False
    inplace_output: bool = False

    def __call__(
        self,
        x: TensorLike,
        scale: TensorLike,
        bias: TensorLike,
        epsilon: float = 1e-4,
        running_average_factor: float = 0.1,
        running_mean: object = None,
        running_var: object = None,
    ) -> list[Any]:
        """Return what `theano.tensor.nnet.bn.batch_normalization_train` does, as a list.

        The parameters are that function's; `scale` and `bias` are its ``gamma`` and ``beta``.

        Raises
        ------
        AssertionError
            Running averages that were not announced, or announced ones that are not given.
        """
        given = (running_mean is not None, running_var is not None)
        if given != (self.running_averages,) * 2:
            raise AssertionError(
                f"GpuDnnBatchNorm: running_averages={self.running_averages}, but of running_mean "
                f"and running_var were given: {given}"
            )
        return list(
            bn.batch_normalization_train(
                x,
                scale,
                bias,
                self.mode,
                epsilon,
                running_average_factor,
                running_mean,
                running_var,
            )
        )


@dataclass(frozen=True)
class GpuDnnBatchNormInference(_Normalisation):
    """The normalisation of a batch by a given mean and variance.

    Parameters
    ----------
    mode : {'per-activation', 'spatial'}
        Whether each element has its own mean, or each channel.
    inplace : bool
        Accepted: the engine decides on memory itself.
    """

    inplace: bool = False

    def __call__(
        self,
        x: TensorLike,
        scale: TensorLike,
        bias: TensorLike,
        estimated_mean: object,
        estimated_variance: object,
        epsilon: float = 1e-4,
    ) -> Any:
        """Return what `theano.tensor.nnet.bn.batch_normalization_test` does."""
        return bn.batch_normalization_test(
            x, scale, bias, estimated_mean, estimated_variance, self.mode, epsilon
        )


class GpuDnnBatchNormGrad(_Normalisation):
    """The gradients of `GpuDnnBatchNorm` by what it is applied to."""

    def __call__(
        self,
        x: TensorLike,
        dy: TensorLike,
        scale: TensorLike,
        x_mean: TensorLike,
        x_invstd: TensorLike,
        epsilon: float = 1e-4,
    ) -> list[Any]:
        """Return the gradients by `x`, by the scale and by the bias.

        Parameters
        ----------
        x, dy : tensors of 4 or 5 dimensions
            What is normalised, and the gradient by the result.
        scale : tensor
            With length 1 along what is normalised over.
        x_mean, x_invstd : tensors
            The second and the third result of `GpuDnnBatchNorm`.
        epsilon : float
            Accepted: what was added to the variance is in `x_invstd`.
        """
        x = pt.as_tensor_variable(x)
        axes = (0,) if self.mode == "per-activation" else (0, *range(2, x.ndim))
        gradients = bn.AbstractBatchNormTrainGrad(axes)
        return [*gradients(x, dy, scale, x_mean, x_invstd, epsilon, return_list=True)]
