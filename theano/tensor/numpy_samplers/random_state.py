"""Shared variables that hold NumPy's `RandomState`."""

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable

from theano.compile.calls.locks import Locked
from theano.compile.sharedvalue import register_constructor
from theano.tensor.numpy_samplers.random_function import copied_state, random_state_type

__all__ = ["RandomStateSharedVariable", "randomstate_constructor"]


class RandomStateSharedVariable(Locked, SharedVariable):
    """A variable with a `numpy.random.RandomState` that functions draw from and advance."""


def randomstate_constructor(
    value: np.random.RandomState,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> RandomStateSharedVariable:
    """Make a shared variable of a `numpy.random.RandomState`: see `theano.shared`."""
    if not random_state_type.is_valid_value(value):
        raise TypeError(f"expected a numpy.random.RandomState, got {type(value)}")
    return RandomStateSharedVariable(
        type=random_state_type,
        value=value if borrow else copied_state(value),
        strict=strict,
        allow_downcast=allow_downcast,
        name=name,
    )


register_constructor(np.random.RandomState, randomstate_constructor)
