"""Checks that what users' operations compute is what their types promise."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.type import TensorType
from pytensor.tensor.type_other import NoneTypeT

from theano.pytensor_internals.functions.c_code import Generic
from theano.support.formatting.values import described


def with_results_checked(thunk: Callable, node: Apply) -> Callable:
    """Return a thunk that looks at what a user's ``perform`` left in its outputs.

    Parameters
    ----------
    thunk
        Runs ``perform``; its outputs are cells.
    node
        What it runs.

    Returns
    -------
    callable
        The same, which raises a TypeError where an output is none, no array, or one of another
        dtype or number of dimensions than its type says, and a ValueError where a length differs
        from one that the type gives. A number is made an array where the type has no dimension.
    """
    cells: Sequence[list] = thunk.outputs  # type: ignore[attr-defined]
    types = [variable.type for variable in node.outputs]
    checks = [
        (k, cell, *_expected(kind)) for k, (cell, kind) in enumerate(zip(cells, types, strict=True))
    ]

    def run() -> Any:
        returned = thunk()
        for k, cell, dtype, ndim, static in checks:
            value = cell[0]
            if type(value) is not np.ndarray or value.dtype is not dtype or value.ndim != ndim:
                cell[0] = _settled(node, k, value)
            elif static is not None:
                _check_lengths(node, k, value)
        return returned

    vars(run).update(vars(thunk))
    return run


def _expected(kind: object) -> tuple[np.dtype | None, int, tuple | None]:
    """Return the dtype, the dimensions, and the lengths that a type gives, if it does."""
    if not isinstance(kind, TensorType) or hasattr(kind, "format"):
        return None, -1, None
    static = kind.shape if any(length is not None for length in kind.shape) else None
    return kind.numpy_dtype, kind.ndim, static


def _settled(node: Apply, position: int, value: object) -> Any:
    """Return what an output holds that is no array as its type says at the first look."""
    kind = node.outputs[position].type
    if hasattr(kind, "format"):  # a sparse type, whose module would import much
        if (getattr(value, "format", None), getattr(value, "dtype", "")) != (
            kind.format,
            kind.dtype,
        ):
            raise TypeError(_message(node, position, value))
    elif not isinstance(kind, TensorType):
        if value is None and not isinstance(kind, NoneTypeT | Generic):
            raise TypeError(_message(node, position, value))
    elif isinstance(value, np.ndarray):
        if value.dtype.newbyteorder("=") != kind.numpy_dtype or value.ndim != kind.ndim:
            raise TypeError(_message(node, position, value))
        _check_lengths(node, position, value)
    elif kind.ndim == 0 and isinstance(value, numbers.Number | np.generic):
        try:
            return kind.filter(value)
        except TypeError:
            raise TypeError(_message(node, position, value)) from None
    else:
        raise TypeError(_message(node, position, value))
    return value


def _check_lengths(node: Apply, position: int, value: np.ndarray) -> None:
    static = node.outputs[position].type.shape
    for length, found in zip(static, value.shape, strict=True):
        if length is not None and length != found:
            raise ValueError(_message(node, position, value))


def _message(node: Apply, position: int, value: object) -> str:
    left = "nothing was put into it" if value is None else f"it put {described(value)} there"
    return (
        f"{node.op}: perform must put a value of the type {node.outputs[position].type} into"
        f" output_storage[{position}][0], and {left}"
    )
