"""Jacobians and Hessians, all rows at once where the operations have a form for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.gradient import grad
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.basic import Eye, as_tensor_variable, constant
from pytensor.tensor.type import TensorType, float_dtypes

from theano.pytensor_internals.graphs.annotations import OnDisconnected, all_results
from theano.rewriting.lengths import lengths_of, static_length

# longer ones are not written into the graph
LONGEST_CONSTANT = 32


def rows_at_once(
    expression: Variable,
    wrt: Sequence[Variable],
    consider_constant: Sequence[Variable] | None,
    disconnected_inputs: OnDisconnected,
) -> list[Variable] | None:
    """Return the gradients of each element of a vector.

    Parameters
    ----------
    expression
        A vector.
    wrt, consider_constant, disconnected_inputs
        As of `grad`.

    Returns
    -------
    list of Variable or None
        For each of ``wrt``, of shape ``(n, *shape)``; None where an operation has no form for
        several gradients at once.
    """
    # Imported when first used: few programs have Jacobians.
    from theano.derivatives.batch import in_batch

    if expression.type.dtype not in float_dtypes:
        return None
    row = expression.type("row")
    gradients = grad(
        None,
        list(wrt),
        consider_constant=consider_constant,
        disconnected_inputs=disconnected_inputs,
        known_grads={expression: row},
    )
    (length,) = lengths_of(expression)
    rows = {row: _unit_rows(length, expression.type.dtype)}
    return in_batch(all_results(gradients), rows, length)


def _unit_rows(length: Any, dtype: str) -> Variable:
    """Return a matrix of so many unit vectors."""
    known = static_length(length)
    if known is not None and known <= LONGEST_CONSTANT:
        return as_tensor_variable(np.eye(known, dtype=dtype))
    # PyTensor's own would rewrite what computes the length, to find a static one
    kind = TensorType(dtype, (known, known))
    rows: Variable = Apply(Eye(dtype), [length, length, constant(0)], [kind()]).out
    return rows
