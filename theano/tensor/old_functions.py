"""Functions of Theano 1.0 that PyTensor has under other names and arguments."""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable


def chi2sf(x: Any, k: Any) -> TensorVariable:
    """Return the probability that a chi-squared variable of `k` degrees exceeds `x`."""
    return pt.gammaincc(k / 2, x / 2)


def extract_constant(x: Any, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """Return the number that the scalar `x` always is, or `x` where that is not known."""
    return pt.get_underlying_scalar_constant_value(
        x,
        elemwise=elemwise,
        only_process_constants=only_process_constants,
        raise_not_constant=False,
    )
