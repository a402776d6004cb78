"""Accumulation: how two numbers become one, what it begins with, and on which vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.statements.reduce import Reduce

_NEUTRAL = {"add": 0, "multiply": 1, "multiply without zeros": 0, "or": 0, "exclusive or": 0}
# in which NaN stays, whatever comes after it
EXTREMES = ("maximum", "minimum")
_ON_VECTORS = (*EXTREMES, "add", "multiply")


def accumulation(operation: str, dtype: str) -> Expression:
    """Return what makes one number of what was accumulated and another one."""
    name = f"{operation} so far" if operation in EXTREMES else operation
    return Expression(operation, name, dtype, dtype, in_vectors=operation in _ON_VECTORS)


def neutral(operation: str, dtype: str) -> Scalar:
    """Return what accumulation begins with."""
    value: Any = _NEUTRAL.get(operation)
    if operation == "and":
        # all bits set
        value = np.invert(np.zeros((), dtype))
    elif operation in EXTREMES:
        low = operation == "maximum"
        if dtype in FLOATS:
            value = -np.inf if low else np.inf
        elif dtype == "bool":
            value = not low
        else:
            value = np.iinfo(dtype).min if low else np.iinfo(dtype).max
    return Scalar(str(value), dtype, invariant=True, literal=np.asarray(value, dtype)[()])


def in_vectors(statement: Reduce) -> bool:
    """Return whether vectors.inc has functions for a reduction of elements side by side."""
    if _widens(statement):
        return statement.operation in ("add", "multiply")
    of_numbers = statement.operation in ("add", "multiply", "maximum", "minimum")
    return of_numbers and statement.dtype in SUFFIX and statement.dtype == statement.source.dtype


def _widens(statement: Reduce) -> bool:
    return (statement.source.dtype, statement.dtype) == ("float32", "float64")


def vector_function(statement: Reduce, part: str) -> str:
    """Return the function that begins, goes on with a row or with rows of columns, or ends."""
    kind = "f32_in_f64" if _widens(statement) else SUFFIX[statement.dtype]
    return f"{statement.operation}_{part}_{kind}"
