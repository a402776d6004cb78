"""Other values of a model's data, which must be what the model computes with."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_of_data(value: Any, before: np.ndarray, name: str) -> np.ndarray:
    """Return a value as data of the model, in its dtype.

    Parameters
    ----------
    value
        The new value.
    before
        The value until now.
    name
        The data's name, for messages.

    Raises
    ------
    ValueError
        If it has another number of dimensions, misses an entry, or has one that the dtype, an
        integer or a boolean, does not hold.
    """
    if np.ma.is_masked(value):
        at = np.argwhere(np.ma.getmaskarray(value))[0]
        raise ValueError(f"data {name!r}: expected a value for every entry, got none{_place(at)}")
    given = np.asarray(value)
    try:
        with np.errstate(invalid="ignore"):
            made = np.array(given, before.dtype, order="C", copy=True)
    except OverflowError as error:
        raise ValueError(f"data {name!r}: expected {before.dtype}: {error}") from None
    if made.ndim != before.ndim:
        raise ValueError(f"data {name!r}: expected {before.ndim} dimensions, got {made.ndim}")
    if before.dtype.kind in "iub" and given.dtype != before.dtype:
        changed = np.argwhere(np.asarray(made != given))
        if len(changed):
            at = tuple(map(int, changed[0]))
            raise ValueError(
                f"data {name!r}: expected {before.dtype}, got {given[at]!s}{_place(at)}"
            )
    return made


def not_finite(value: object, name: str) -> str | None:
    """Return which entry of data is not finite, in words, or None."""
    found = np.argwhere(~np.isfinite(np.asarray(value)))
    if not len(found):
        return None
    at = tuple(map(int, found[0]))
    return f"{name} is {np.asarray(value)[at]}{_place(at)}"


def _place(at: Any) -> str:
    place = ", ".join(map(str, at))
    return f" at [{place}]" if place else ""
