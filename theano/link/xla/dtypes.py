"""The dtypes that a device has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from pytensor.graph.basic import Variable

from theano.link.background import is_without_threads
from theano.link.xla.arrays import is_array
from theano.link.xla.jax_library import declared_precision, require_jax


def require_dtypes(device: object, variables: Iterable[Variable]) -> None:
    """Check that a device of JAX can hold the values of variables.

    Raises
    ------
    TypeError
        When it lacks the dtype of one of them.
    """
    if is_without_threads():
        # a function may be unpickled where it cannot be called; what calls it gets the error
        return
    for variable in variables:
        if is_array(variable) and not has_dtype(device, variable.type.dtype):
            raise TypeError(
                f"{device} has no values of dtype {variable.type.dtype}, which {variable} has; "
                "cast it to another one, or compute it with device=cpu"
            )


@cache
def has_dtype(device: object, dtype: str) -> bool:
    """Return whether a device of JAX holds arrays of a dtype as they are."""
    jax = require_jax()
    try:
        with declared_precision():
            held = jax.device_put(np.zeros(1, dtype), device).block_until_ready()
    except (TypeError, RuntimeError):
        return False
    return held.dtype == np.dtype(dtype)
