"""Pooling, for which Theano had operators of devices: the host's run there."""

from theano.gof.stand_in import StandIn
from theano.tensor.signal.pool import AveragePoolGrad as GpuAveragePoolGrad
from theano.tensor.signal.pool import DownsampleFactorMaxGradGrad as GpuDownsampleFactorMaxGradGrad
from theano.tensor.signal.pool import MaxPoolGrad
from theano.tensor.signal.pool import MaxPoolRop as GpuMaxPoolRop
from theano.tensor.signal.pool import Pool as GpuPool

__all__ = [
    "GpuAveragePoolGrad",
    "GpuDownsampleFactorMaxGradGrad",
    "GpuMaxPoolGrad",
    "GpuMaxPoolRop",
    "GpuPool",
]


class GpuMaxPoolGrad(metaclass=StandIn, made=MaxPoolGrad):
    """The host's `MaxPoolGrad`, of arguments in the order that those of devices had.

    Parameters
    ----------
    ignore_border : bool
        Whether windows that reach over the border were left out.
    mode : {'max'}
    ndim : int
        How many of the last dimensions the windows have.

    Raises
    ------
    AssertionError
        Another mode.
    """

    @staticmethod
    def make(ignore_border: bool, mode: str = "max", ndim: int = 2) -> MaxPoolGrad:
        if mode != "max":
            raise AssertionError(f"GpuMaxPoolGrad: expected mode 'max', got {mode!r}")
        return MaxPoolGrad(ignore_border, ndim)
