"""A test of whether two values may lie in the same memory."""

import sys
from typing import Any

import numpy as np

__all__ = ["may_share_memory"]


def may_share_memory(a: object, b: object, raise_other_type: bool = True) -> bool:
    """Return whether two arrays or sparse matrices may lie in the same memory.

    Parameters
    ----------
    a, b : ndarray or sparse matrix
    raise_other_type : bool, optional
        Whether something else is an error; otherwise the result is False.

    Raises
    ------
    TypeError
        When one of them is neither.
    """
    parts = []
    for value in (a, b):
        arrays = _arrays_of(value)
        if arrays is None:
            if raise_other_type:
                raise TypeError(
                    "may_share_memory takes arrays of NumPy and sparse matrices of SciPy, "
                    f"not {type(value)}"
                )
            return False
        parts.append(arrays)
    return any(np.may_share_memory(one, other) for one in parts[0] for other in parts[1])


def _arrays_of(value: Any) -> list[np.ndarray] | None:
    if isinstance(value, np.ndarray):
        return [value]
    sparse = sys.modules.get("scipy.sparse")
    # Of a module that is not imported, there are no values.
    if sparse is not None and sparse.issparse(value):
        return [value.data, value.indptr, value.indices]
    return None
