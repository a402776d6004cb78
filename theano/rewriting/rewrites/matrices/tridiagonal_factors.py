"""Tridiagonal matrices that may be factorized once for several solutions.

LAPACK's function for its factors refuses fewer than three rows in SciPy's wrapper of it, where a
solution without factors is right.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.operations.tensor import LUFactorTridiagonal

FEWEST_ROWS = 3


def of_enough_rows(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a solution is not by a tridiagonal matrix, or one that is known to be large enough."""
    op: Any = node.op
    rows = node.inputs[0].type.shape[-1]  # type: ignore[attr-defined]
    return op.core_op.assume_a != "tridiagonal" or (rows is not None and rows >= FEWEST_ROWS)


def factors_in_step_are_of_enough_rows(
    graph: FunctionGraph, node: Apply, made: list[Variable]
) -> bool:
    """Return whether the step of a loop has factors of tridiagonal matrices that are large enough only."""
    step = made[0].owner.op.fgraph  # type: ignore[union-attr]
    factors = (
        each
        for each in step.toposort()
        if isinstance(getattr(each.op, "core_op", each.op), LUFactorTridiagonal)
    )
    rows = [each.inputs[1].type.shape[-1] for each in factors]
    return all(one is not None and one >= FEWEST_ROWS for one in rows)
