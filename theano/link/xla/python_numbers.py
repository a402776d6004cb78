"""Python's numbers as arguments: those that an input of no dimension takes as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

# Integers below are the same as numbers of the dtype.
_DIGITS = {"float64": 53, "float32": 24}
_LARGEST = 3.4e38


def limit_of_numbers(kind: Any) -> int:
    """Return the limit of the integers that inputs of a type take; 0 if they take no numbers."""
    dtype: np.dtype = kind.numpy_dtype
    if kind.ndim or dtype.kind not in "if" or dtype == np.float16:
        return 0
    return 1 << _DIGITS.get(dtype.name, 8 * dtype.itemsize - 1)


def array_of_number(value: Any, dtype: np.dtype, limit: int) -> np.ndarray | None:
    """Return a number as an array of a dtype; None if it is none, or not exactly represented.

    Parameters
    ----------
    value
        What was given.
    dtype
        Of the array.
    limit
        As `limit_of_numbers` returns it.
    """
    if not limit:
        return None
    kind = type(value)
    if kind is int:
        return np.array(value, dtype) if -limit <= value < limit else None
    if dtype.kind != "f" or (kind is not float and kind is not np.float64):
        return None
    if dtype.itemsize == 8:
        return np.array(value, dtype)
    if not -_LARGEST < value < _LARGEST:
        return None
    array = np.array(value, dtype)
    return array if array.item() == value else None
