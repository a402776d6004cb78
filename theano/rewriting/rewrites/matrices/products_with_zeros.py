"""A product of matrices of which one is zero is zero, if the matrices fit.

PyTensor's rewrite takes the shape of the result from the operands and never asks that they fit.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import alloc, constant, get_underlying_scalar_constant_value
from pytensor.tensor.math import Dot, eq

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.rewriting.rewrites.of_pytensor.guards import same_length

_FITS = CheckAndRaise(
    ValueError, "dot: the first operand must have as many columns as the second has rows"
)


@node_rewriter([Dot])
def product_with_zeros(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Return zeros for ``dot(x, zeros)``, which raise ValueError if the operands do not fit."""
    x: Any
    y: Any
    x, y = node.inputs
    if not _is_zero(x) and not _is_zero(y):
        return None
    zero: Any = constant(0, dtype=node.outputs[0].type.dtype)
    rows, columns = x.shape[0], y.shape[1]
    if not same_length(getattr(graph, "shape_feature", None), x, 1, y, 0):
        fits = eq(x.shape[1], y.shape[0])
        # of vectors, dimensions are dropped from the result, and with them what their lengths ask
        if not x.type.broadcastable[0]:
            rows = _FITS(rows, fits)
        elif not y.type.broadcastable[1]:
            columns = _FITS(columns, fits)
        else:
            zero = _FITS(zero, fits)
    result: Any = alloc(zero, rows, columns)
    copy_stack_trace(node.outputs[0], result)
    return [result]


def _is_zero(variable: Variable) -> bool:
    value = get_underlying_scalar_constant_value(
        variable, only_process_constants=False, raise_not_constant=False
    )
    return not isinstance(value, Variable) and value == 0
