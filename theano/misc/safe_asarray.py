"""Conversion to an array of an exact dtype, by Theano 1.0's name."""

from typing import Any

import numpy as np


def _asarray(a: object, dtype: Any, order: Any = None) -> np.ndarray:
    """Convert `a` to an array whose dtype is `dtype`, ``'floatX'`` included.

    Parameters
    ----------
    a : array_like
    dtype : dtype or str
    order : {'C', 'F', 'A', 'K'}, optional

    Returns
    -------
    ndarray
        Its dtype has the type number of `dtype`, also where a platform has two of one size.
    """
    if str(dtype) == "floatX":
        from theano.configdefaults import config

        dtype = config.floatX
    wanted = np.dtype(dtype)
    result = np.asarray(a, dtype=wanted, order=order)
    return result if result.dtype.num == wanted.num else result.view(dtype=wanted)
