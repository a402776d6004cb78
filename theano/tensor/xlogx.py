"""x log x and x log y, with 0 where x is 0, by Theano 1.0's names."""

from pytensor.tensor import TensorLike
from pytensor.tensor.special import xlogy
from pytensor.tensor.variable import TensorVariable

__all__ = ["xlogx", "xlogy0"]


def xlogx(x: TensorLike) -> TensorVariable:
    """Return ``x * log(x)``, and 0 where `x` is 0."""
    return xlogy(x, x)


def xlogy0(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return ``x * log(y)``, and 0 where `x` is 0."""
    return xlogy(x, y)
