"""Whose memory an array is: whether a call may read it, fill it or keep it for the next call."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from theano.link.native.lowering.segment import Passed


def _references_of_one_name() -> int:
    array = object()
    return sys.getrefcount(array)


# what sys.getrefcount returns for an array that nobody else has
UNUSED = _references_of_one_name()


class MemoryOfInputs:
    """Inputs of a call that share memory; most own theirs, and need not be compared in pairs."""

    def __init__(self, arrays: list):
        self._arrays = arrays
        self._views: list | None = None
        self._identities: list[int] = []

    def is_shared(self, array: np.ndarray) -> bool:
        """Return whether an input may share memory with another one."""
        if self._views is None:
            self._identities = [*map(id, self._arrays)]
            self._arrays = [a for a in self._arrays if isinstance(a, np.ndarray)]
            self._views = [a for a in self._arrays if not a.flags.owndata]
        others = self._views if array.flags.owndata else self._arrays
        return self._identities.count(id(array)) > 1 or any(
            other is not array and np.may_share_memory(array, other) for other in others
        )


def may_be_next(value: Any, array: np.ndarray | None) -> bool:
    """Return whether a value of a state has room for what is made as an array is."""
    return array is not None and is_whole(value, array.dtype) and value.shape == array.shape


def is_whole(value: object, dtype: np.dtype) -> bool:
    """Return whether a value is an array with its own memory, as outputs have it."""
    return (
        type(value) is np.ndarray
        and value.dtype == dtype
        and value.dtype.isnative
        and value.flags.owndata
        and value.flags.c_contiguous
        and value.flags.writeable
    )


def fits(value: np.ndarray, wanted: Passed) -> bool:
    """Return whether generated code reads an array as it lies."""
    return (
        value.dtype == wanted.dtype
        and value.dtype.isnative
        and value.flags.aligned
        and (value.flags.f_contiguous if wanted.in_columns else value.flags.c_contiguous)
        and value.ndim == wanted.ndim
    )
