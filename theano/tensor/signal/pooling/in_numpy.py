"""Pooling and its gradients in NumPy, an element of all windows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.tensor.signal.pooling.geometry import Windows


def least(dtype: Any) -> Any:
    """Return the least number of a dtype, which no other is below."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return kind.type(-np.inf)
    return kind.type(False) if kind.kind == "b" else np.iinfo(kind).min


def with_border(x: np.ndarray, windows: Windows, fill: object) -> np.ndarray:
    """Return a copy of `x` that all windows lie in, with `fill` around."""
    lead = x.shape[: x.ndim - len(windows.sizes)]
    padded = np.full((*lead, *windows.room()), fill, dtype=x.dtype)
    padded[windows.inside()] = x
    return padded


def maximum(x: np.ndarray, windows: Windows) -> np.ndarray:
    """Return the greatest element of each window; NaN where there is one."""
    padded = with_border(x, windows, least(x.dtype))
    lead = x.shape[: x.ndim - len(windows.sizes)]
    result = np.full((*lead, *windows.counts), least(x.dtype), dtype=x.dtype)
    for offset in windows.offsets():
        np.maximum(result, padded[windows.elements(offset)], out=result)
    return result


def total(x: np.ndarray, windows: Windows, dtype: Any = None) -> np.ndarray:
    """Return the sum of each window."""
    padded = with_border(x, windows, 0)
    lead = x.shape[: x.ndim - len(windows.sizes)]
    result = np.zeros((*lead, *windows.counts), dtype=dtype or x.dtype)
    for offset in windows.offsets():
        result += padded[windows.elements(offset)]
    return result


def mean(x: np.ndarray, windows: Windows, with_padding: bool) -> np.ndarray:
    """Return the mean of each window; of integers, it is cut off to one."""
    working = x.dtype if x.dtype.kind == "f" else np.dtype("float64")
    sums = total(x, windows, working)
    return (sums / windows.counted(with_padding).astype(working)).astype(x.dtype)


def to_greatest(
    x: np.ndarray, greatest: np.ndarray, gradients: np.ndarray, windows: Windows
) -> np.ndarray:
    """Add each window's gradient to all of its elements that are equal to its greatest."""
    padded = with_border(x, windows, least(x.dtype))
    result = np.zeros(padded.shape, dtype=x.dtype)
    for offset in windows.offsets():
        at = windows.elements(offset)
        result[at] += np.where(padded[at] == greatest, gradients, 0).astype(x.dtype)
    return result[windows.inside()]


def to_all(x: np.ndarray, gradients: np.ndarray, windows: Windows) -> np.ndarray:
    """Add each window's gradient to all of its elements."""
    lead = x.shape[: x.ndim - len(windows.sizes)]
    result = np.zeros((*lead, *windows.room()), dtype=x.dtype)
    for offset in windows.offsets():
        result[windows.elements(offset)] += gradients.astype(x.dtype)
    return result[windows.inside()]


def of_greatest(
    x: np.ndarray, greatest: np.ndarray, values: np.ndarray, windows: Windows
) -> np.ndarray:
    """Add up, for each window, the values at its elements that are equal to its greatest."""
    padded, alongside = with_border(x, windows, 0), with_border(values, windows, 0)
    result = np.zeros(greatest.shape, dtype=x.dtype)
    for offset in windows.offsets():
        at = windows.elements(offset)
        result += np.where(padded[at] == greatest, alongside[at], 0).astype(x.dtype)
    return result


def at_first_greatest(x: np.ndarray, values: np.ndarray, windows: Windows) -> np.ndarray:
    """Return the value at the first of the greatest elements of each window."""
    padded, alongside = with_border(x, windows, least(x.dtype)), with_border(values, windows, 0)
    within = with_border(np.ones(x.shape, dtype="bool"), windows, False)
    lead = x.shape[: x.ndim - len(windows.sizes)]
    best = np.full((*lead, *windows.counts), least(x.dtype), dtype=x.dtype)
    found = np.zeros(best.shape, dtype="bool")
    result = np.zeros(best.shape, dtype=values.dtype)
    for offset in windows.offsets():
        at = windows.elements(offset)
        greater = (padded[at] > best) | (np.isnan(padded[at]) & ~np.isnan(best))
        better = within[at] & (greater | ~found)
        best, result = np.where(better, padded[at], best), np.where(better, alongside[at], result)
        found |= better
    return result
