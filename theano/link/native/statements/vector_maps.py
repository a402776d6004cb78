"""The maps that run on vectors: of one floating-point type, and of booleans as masks."""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.ir import Compute, Scalar
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.statements.map import Map

# What is done to masks as it is to booleans.
_OF_MASKS = "and", "or", "exclusive or", "invert", "==", "!=", "add", "multiply", "first", "second"


def vector_type(statement: Map, dtypes: Iterable[str]) -> str | None:
    """Return the one floating-point type of a map that can run on vectors, or None."""
    types = set(dtypes) - {"bool"}
    if len(types) != 1 or not types <= set(FLOATS):
        return None
    (dtype,) = types
    in_vectors = [c.operation for c in statement.body if c.operation.in_vectors]
    if len(in_vectors) < len(statement.body) and not any(e.function for e in in_vectors):
        # the compiler makes vectors of what it can
        return None
    return dtype if all(takes_vectors(compute, dtype) for compute in statement.body) else None


def is_condition(compute: Compute, position: int) -> bool:
    """Return whether a computation reads an operand as a mask."""
    operation = compute.operation
    return operation.operand_dtype == "bool" or (operation.takes_boolean and position == 0)


def takes_vectors(compute: Compute, dtype: str) -> bool:
    """Return whether what a computation takes and gives is of a type, or the booleans of conditions.

    Booleans are masks, which is computed of other booleans, and 1 or 0 where a number is wanted.
    """
    operation = compute.operation
    if compute.dtype == "bool" and not operation.in_vectors:
        return False
    of_booleans = operation.operand_dtype == "bool"
    if of_booleans and operation.operation not in _OF_MASKS:
        return False
    for position, operand in enumerate(compute.operands):
        boolean = is_condition(compute, position)
        is_mask = operand.dtype == "bool" and (boolean or not isinstance(operand, Scalar))
        if is_mask and operation.in_vectors:
            continue
        if boolean or (not isinstance(operand, Scalar) and operand.dtype != dtype):
            return False
    wanted = (None, dtype) if operation.operation == "cast" else (dtype,)
    return compute.dtype in (dtype, "bool") and (of_booleans or operation.operand_dtype in wanted)
