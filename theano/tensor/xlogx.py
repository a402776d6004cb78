"""x log x and x log y, with 0 where x is 0, by Theano 1.0's names."""

from typing import Any

from pytensor.tensor.special import xlogy
from pytensor.tensor.variable import TensorVariable

__all__ = ["xlogx", "xlogy0"]


def xlogx(x: Any) -> TensorVariable:
    """Return ``x * log(x)``, and 0 where `x` is 0."""
    return xlogy(x, x)


def xlogy0(x: Any, y: Any) -> TensorVariable:
    """Return ``x * log(y)``, and 0 where `x` is 0."""
    return xlogy(x, y)
