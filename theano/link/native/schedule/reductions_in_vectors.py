"""Which reductions of elements side by side vectors.inc has functions for."""

from __future__ import annotations

from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.statements.reduce import Reduce


def in_vectors(statement: Reduce) -> bool:
    """Return whether vectors.inc has functions for a reduction of elements side by side."""
    if _widens(statement):
        return statement.operation in ("add", "multiply")
    of_numbers = statement.operation in ("add", "multiply", "maximum", "minimum")
    return of_numbers and statement.dtype in SUFFIX and statement.dtype == statement.source.dtype


def _widens(statement: Reduce) -> bool:
    return (statement.source.dtype, statement.dtype) == ("float32", "float64")


def vector_function(statement: Reduce, part: str) -> str:
    """Return the function that begins, goes on with a row, or ends."""
    kind = "f32_in_f64" if part == "row" and _widens(statement) else SUFFIX[statement.dtype]
    return f"{statement.operation}_{part}_{kind}"
