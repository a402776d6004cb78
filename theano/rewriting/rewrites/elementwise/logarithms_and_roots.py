"""Logarithms and roots of what overflows or rounds, while they do not.

    log(1 - tanh(x)**2)           ->   -log1p(sinh(x)**2), and log(4) - 2 * |x| where x is large
    log(p * exp(x) / exp(y))      ->   log(p) + x - y
    sqrt(exp(x)) * sqrt(exp(x))   ->   exp(x)

The first is the log determinant of a squashed sample, as policies of reinforcement learning have it,
the second the logarithm of a density that is written as a product. The third is what the gradient
of a logarithm of a root divides by.
"""

from __future__ import annotations

import math
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.math import (
    Sum,
    add,
    exp,
    log,
    log1p,
    mul,
    sigmoid,
    sinh,
    softplus,
    sqr,
    sqrt,
    sub,
    switch,
    tanh,
    true_div,
)
from pytensor.tensor.math import pow as power

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import is_neg, local_mul_canonizer

# the square of its hyperbolic sine has the digits of a quarter of its power, and is a float32
_LARGE = 20
_NEVER_NEGATIVE = (exp, sqr, sigmoid, softplus)


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


@node_rewriter([log])
def log_of_exponentials(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Take the exponentials out of the logarithm of a product.

    Sums among the other factors are left to rewrites that know them as parts of a sigmoid or a
    softmax.
    """
    product: Any = node.inputs[0]
    if product.owner is None or product.owner.op not in (mul, true_div):
        return None
    above, below = local_mul_canonizer.get_num_denum(product)
    powers = [v for v in above if _is_power(v)], [v for v in below if _is_power(v)]
    rest = [v for v in above if not _is_power(v)], [v for v in below if not _is_power(v)]
    if not any(powers) or any(_has_terms(v) for factors in rest for v in factors):
        return None
    terms = [v.owner.inputs[0] for v in powers[0]] + [-v.owner.inputs[0] for v in powers[1]]
    if any(rest):
        terms.append(log(local_mul_canonizer.merge_num_denum(*rest)))
    made = add(*terms) if len(terms) > 1 else terms[0]
    if made.type.dtype != node.outputs[0].type.dtype:
        return None
    copy_stack_trace(node.outputs, made)
    return [made]


@node_rewriter([mul])
def square_of_root(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Replace a root that is a factor twice by its operand, where that is never negative."""
    for root in node.inputs:
        made: Any = root.owner
        if made is None or made.op != sqrt or node.inputs.count(root) < 2:
            continue
        operand = made.inputs[0]
        if operand.owner is None or operand.owner.op not in _NEVER_NEGATIVE:
            continue
        factors = list(node.inputs)
        factors.remove(root)
        factors[factors.index(root)] = operand
        product = mul(*factors) if len(factors) > 1 else operand
        copy_stack_trace(node.outputs, product)
        return [product]
    return None


def _is_power(variable: Variable) -> bool:
    return variable.owner is not None and variable.owner.op == exp


def _has_terms(variable: Variable) -> bool:
    """Return whether a factor is a sum, perhaps with axes of length 1."""
    node = variable.owner
    while node is not None and is_a(node.op, DimShuffle):
        node = node.inputs[0].owner
    return node is not None and (node.op in (add, sub) or is_a(node.op, Sum))


def _taken_from_one(variable: Variable) -> Any:
    node = variable.owner
    if node is None or node.op != sub or not _is(node.inputs[0], 1):
        return None
    return node.inputs[1]


def _squared(variable: Variable) -> Any:
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
