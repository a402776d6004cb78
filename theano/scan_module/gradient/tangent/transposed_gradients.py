"""Directional derivatives as the transpose of the gradient, for operations without rules for them.

The gradient is linear in the weights that it begins with: its own gradient with respect to these is
the derivative along a direction (J. Townsend, A new trick for calculating Jacobian vector
products, 2017).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytensor.compile.ops import view_op
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, pullback
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import constant
from pytensor.tensor.type import discrete_dtypes

from theano.pytensor_internals.graphs.annotations import (
    ForDisconnected,
    OnDisconnected,
    all_results,
    known_tensor,
    only_result,
)


def tangents_by_transposition(
    values: Sequence[Variable],
    wrt: Sequence[Variable],
    directions: Sequence[Variable | None],
    disconnected_outputs: OnDisconnected = "raise",
    return_disconnected: ForDisconnected = "zero",
) -> list[Variable]:
    """Return the derivatives of values along directions.

    Parameters
    ----------
    values, wrt, directions
        What is differentiated, with respect to what, and one direction for each of these.
    disconnected_outputs, return_disconnected
        As PyTensor's ``pushforward`` has them.

    Raises
    ------
    DisconnectedInputError
        If a value depends on none of the variables, and that is an error.
    NullTypeGradError
        If an operation has no gradient.
    """
    # nothing else depends on these zeros, which need no value when the function is called
    weights = [known_tensor(value).zeros_like(dtype=_weight_dtype(value)) for value in values]
    found = pullback(
        apart(values),
        list(wrt),
        weights,
        disconnected_inputs="ignore",
        return_disconnected="disconnected",
    )
    pairs = [
        (gradient, direction)
        for gradient, direction in zip(all_results(found), directions, strict=True)
        if direction is not None and not isinstance(gradient.type, DisconnectedType)
    ] or [(constant(0.0), constant(0.0))]
    results = pullback(
        apart([gradient for gradient, _ in pairs]),
        weights,
        [direction for _, direction in pairs],
        disconnected_inputs=disconnected_outputs,
        return_disconnected=return_disconnected,
    )
    return all_results(results)


def _weight_dtype(value: Variable) -> str:
    dtype = value.type.dtype
    return config.floatX if dtype in discrete_dtypes else dtype


def apart(values: Sequence[Variable]) -> list[Variable]:
    """Return the values, as separate values where one is computed from another, or named again.

    What is known of the gradient of a value takes the place of what others add to it, and what is
    known of it twice is taken once: of two operands of a sum, for instance, whose gradient is one.
    """
    above = set(ancestors([v for value in values if value.owner for v in value.owner.inputs]))
    times = Counter(values)
    return [only_result(view_op(v)) if v in above or times[v] > 1 else v for v in values]
