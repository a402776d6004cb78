"""New axes of an index that names fewer dimensions than there are, as Theano 1.0 made them.

``x[:, None]`` was a permutation of the dimensions that are named: the others were left out, which is
possible where they are known to have length 1. Samplers of 2015 give a mask of one column to a step
that is written for a vector, and index it so.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable


def without_unnamed_axes(variable: Any, index: object) -> Any:
    """Return a tensor without the dimensions of length 1 that an index with new axes does not name.

    Parameters
    ----------
    variable : TensorVariable
    index
        What is between the brackets, with a new axis at least.

    Returns
    -------
    TensorVariable
        The tensor itself where all are named, or one that is not may be longer than 1, or the index
        holds an array: then all of them stay, as in NumPy.
    """
    entries = index if isinstance(index, tuple) else (index,)
    if not all(map(_is_basic, entries)):
        return variable
    named = sum(entry is not None for entry in entries)
    if named >= variable.type.ndim or not all(variable.type.broadcastable[named:]):
        return variable
    return variable.dimshuffle(*range(named))


def _is_basic(entry: object) -> bool:
    """Return whether an entry names one dimension, or a new one."""
    if isinstance(entry, Variable):
        kind = entry.type
        return getattr(kind, "ndim", 0) == 0 and getattr(kind, "dtype", "bool") != "bool"
    if isinstance(entry, EllipsisType | bool | np.bool_):
        return False
    return entry is None or isinstance(entry, slice | int | np.integer)
