"""Functions of Theano 1.0 that PyTensor has under other names and arguments."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable


def chi2sf(x: Any, k: Any) -> TensorVariable:
    """Return the probability that a chi-squared variable of `k` degrees exceeds `x`."""
    return pt.gammaincc(k / 2, x / 2)
