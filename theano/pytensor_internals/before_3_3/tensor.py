"""Operators of tensors that PyTensor 3.3 has elsewhere or no longer has."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor.ifelse import IfElse, ifelse
from pytensor.tensor.blas import Ger, ger, ger_destructive
from pytensor.tensor.blas_c import (
    BaseBLAS,
    CGemv,
    CGer,
    cgemv_inplace,
    cgemv_no_inplace,
    cger_inplace,
    cger_no_inplace,
    must_initialize_y_gemv,
)
from pytensor.tensor.math import (
    angle,
    complex_from_polar,
    deg2rad,
    gammal,
    gammau,
    logaddexp,
    logsumexp,
    rad2deg,
)
from pytensor.tensor.subtensor import AdvancedIncSubtensor1, AdvancedSubtensor1


def with_rows_repeated(changed: object) -> Any:
    """Return an array of which elements were set or increased: the operator repeats a row."""
    return changed
