"""The logarithm of one minus a squared hyperbolic tangent, which rounds to one.

    log(1 - tanh(x)**2)   ->   -log1p(sinh(x)**2), and log(4) - 2 * |x| where x is large

It is the log determinant of a squashed sample, as policies of reinforcement learning have it.
"""

from __future__ import annotations

import math
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.math import log, log1p, mul, sinh, sqr, sub, switch, tanh
from pytensor.tensor.math import pow as power

from theano.pytensor_base.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_base.operations.tensor_rewrites import is_neg

# the square of its hyperbolic sine has the digits of a quarter of its power, and is a float32
_LARGE = 20


@node_rewriter([log, log1p])
def log_of_squared_tanh(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Rewrite the logarithm of a complement that is a squared hyperbolic secant."""
    taken_away = is_neg(node.inputs[0]) if node.op == log1p else _taken_from_one(node.inputs[0])
    squared = _squared(taken_away) if taken_away is not None else None
    if squared is None or squared.owner is None or squared.owner.op != tanh:
        return None
    x = squared.owner.inputs[0]
    size = abs(x)
    made = switch(size < _LARGE, -log1p(sqr(sinh(x))), math.log(4) - 2 * size)
    if made.type.dtype != node.outputs[0].type.dtype:
        return None
    copy_stack_trace(node.outputs, made)
    return [made]


def _taken_from_one(variable: Any) -> Any:
    node = variable.owner
    if node is None or node.op != sub or not _is(node.inputs[0], 1):
        return None
    return node.inputs[1]


def _squared(variable: Any) -> Any:
    """Return what a variable is the square of, or None."""
    node = variable.owner
    if node is None:
        return None
    if node.op == sqr or (node.op == power and _is(node.inputs[1], 2)):
        return node.inputs[0]
    is_square = node.op == mul and len(node.inputs) == 2 and node.inputs[0] is node.inputs[1]
    return node.inputs[0] if is_square else None


def _is(variable: Variable, number: int) -> bool:
    try:
        return bool(get_underlying_scalar_constant_value(variable) == number)
    except NotScalarConstantError:
        return False
