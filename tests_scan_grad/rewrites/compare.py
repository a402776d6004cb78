"""Comparison of two values up to rounding, and the ways in which they may differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
from pytensor.graph.basic import Variable
from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import Elemwise

from tests_scan_grad.rewrites.interpret import Failed

# in units of the dtype's precision and of the largest number around
SLACK = 200

# what a difference may be
DTYPE = "dtype"
SHAPE = "shape"
VALUES = "values"
NOT_FINITE = "not finite where it was"
INFINITE = "nan where it was infinite"
NEW_ERROR = "an error where there was none"
# what a rewrite may do, and is counted only
MADE_FINITE = "finite where it was not"
LOST_ERROR = "no error where there was one"
SIGN = "infinite of the other sign"
ROUNDED = "rounded otherwise"


def difference(before: Any, after: Any, scale: float, computed_in: float = 0.0) -> str | None:
    """In what a value differs from the one before, or None.

    Parameters
    ----------
    scale
        The largest finite number among the operands: rounding is measured by it.
    computed_in
        The precision of the narrowest numbers that were computed on the way, as `precision_of` has it.
    """
    if isinstance(after, Failed) and isinstance(after.error, NotImplementedError):
        # an operation with C only
        return None
    if isinstance(before, Failed) or isinstance(after, Failed):
        if isinstance(after, Failed) and not isinstance(before, Failed):
            return NEW_ERROR
        return None if isinstance(after, Failed) else LOST_ERROR
    if scipy.sparse.issparse(before) and scipy.sparse.issparse(after):
        before, after = before.toarray(), after.toarray()
    if not isinstance(before, np.ndarray | np.generic | int | float | complex | bool):
        return None
    before, after = np.asarray(before), np.asarray(after)
    if before.dtype != after.dtype:
        return DTYPE
    if before.shape != after.shape:
        return SHAPE
    if before.dtype.kind not in "fc":
        return None if np.array_equal(before, after) else VALUES
    return _of_numbers(before, after, scale, computed_in)


def _of_numbers(
    before: np.ndarray, after: np.ndarray, scale: float, computed_in: float
) -> str | None:
    with np.errstate(all="ignore"):
        was, is_now = np.isfinite(before), np.isfinite(after)
        if (was & ~is_now).any():
            return NOT_FINITE
        both = ~was & ~is_now
        if (np.isinf(before) & np.isnan(after))[both].any() and before.dtype.kind != "c":
            return INFINITE
        if (
            np.isinf(before) & np.isinf(after) & (before != after)
        ).any() and before.dtype.kind != "c":
            return SIGN
        precision = SLACK * np.finfo(before.dtype).eps
        old, new = before[was & is_now], after[was & is_now]
        apart, size = abs(old - new), np.maximum(abs(old), abs(new))
        if (apart > max(precision, SLACK * computed_in) * np.maximum(size, scale)).any():
            return VALUES
        if (~was & is_now).any():
            return MADE_FINITE
        return ROUNDED if (apart > precision * size).any() else None


def precision_of(outputs: list[Variable]) -> float:
    """Return the precision of the narrowest floats that operations compute for some variables."""
    computed = {
        getattr(v.type, "dtype", "bool")
        for v in ancestors(outputs)
        if v.owner and not _is_cast(v.owner.op)
    }
    floats = [dtype for dtype in computed if np.dtype(dtype).kind in "fc"]
    return max((float(np.finfo(dtype).eps) for dtype in floats), default=0.0)


def _is_cast(op: Op) -> bool:
    return isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast)


def scale_of(values: list[Any]) -> float:
    """The largest finite number among arrays; at least 1."""
    largest = 1.0
    for value in values:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fciu" and value.size:
            finite = abs(np.asarray(value)[np.isfinite(value)])
            largest = max(largest, float(finite.max(initial=0)))
    return largest if math.isfinite(largest) else 1.0
