"""Exponentials over one plus exponentials become sigmoids, wherever they stand in a product.

    (exp(x) / n) * y / (1 + exp(x))             ->   sigmoid(x) * y / n
    (a * exp(x) + b) / (1 + exp(x))             ->   a * sigmoid(x) + b * sigmoid(-x)

PyTensor's rewrite looks at the two operands of one quotient. The gradient of a mean divides by a
length within, and each exponential that is left over overflows.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Mul, TrueDiv
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import add, neg, sigmoid, sub, true_div

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import (
    is_1pexp,
    is_exp,
    local_mul_canonizer,
    math,
)


@node_rewriter([true_div])
def exp_over_1_plus_exp(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Rewrite a quotient, with the quotients among its factors where its exponentials are there."""
    result = node.outputs[0]
    made = None
    # a quotient within a product is rewritten with the product
    if not any(_is_product(client) for client, _ in fgraph.clients[result]):
        made = _of_whole_product(node)
    if made is None or made.type.dtype != result.type.dtype:
        return math.local_exp_over_1_plus_exp.transform(fgraph, node) or None
    copy_stack_trace(result, made)
    return [made]


def _of_whole_product(node: Apply) -> Any:
    above, below = local_mul_canonizer.get_num_denum(node.outputs[0])
    exponents = [(v, found[1]) for v in below if (found := is_1pexp(v)) is not None]
    return _of_nested(node, above, below, exponents) or _of_sum(above, below, exponents)


def _is_product(node: Apply) -> bool:
    return is_a(node.op, Elemwise) and isinstance(node.op.scalar_op, Mul | TrueDiv)


def _of_nested(node: Apply, above: list, below: list, exponents: list) -> Any:
    """Return the product with a sigmoid for each pair, if PyTensor's rewrite misses one."""
    above, below, sigmoids = list(above), list(below), []
    (numerator, _), missed = node.inputs, False
    direct = [numerator, *(numerator.owner.inputs if numerator.owner else [])]
    for denominator, exponent in exponents:
        partner = next((v for v in above if _exponent_of(v) is exponent), None)
        if partner is None:
            continue
        missed |= partner not in direct
        above.remove(partner)
        below.remove(denominator)
        sigmoids.append(sigmoid(exponent))
    return local_mul_canonizer.merge_num_denum([*sigmoids, *above], below) if missed else None


def _of_sum(above: list, below: list, exponents: list) -> Any:
    """Return the product with a sum multiplied out whose terms have one of the exponentials."""
    for denominator, exponent in exponents:
        for total in above:
            terms = _terms(total)
            if len(terms) < 2 or not any(_has_exponential(term, exponent) for term in terms):
                continue
            others, divisors = list(above), list(below)
            others.remove(total)
            divisors.remove(denominator)
            quotients = [term / denominator for term in terms]
            multiplied = total.owner.op(*quotients)
            return local_mul_canonizer.merge_num_denum([multiplied, *others], divisors)
    return None


def _terms(variable: Variable) -> list[Any]:
    node = variable.owner
    return list(node.inputs) if node is not None and node.op in (add, sub) else []


def _has_exponential(term: Any, exponent: Variable) -> bool:
    """Return whether a factor of a term, or of its negative, is the power of an exponent."""
    node = term.owner
    if node is not None and node.op == neg:
        return _has_exponential(node.inputs[0], exponent)
    factors = node.inputs if node is not None and _is_product(node) else [term]
    return any(_exponent_of(v) is exponent for v in factors)


def _exponent_of(variable: Variable) -> Variable | None:
    found = is_exp(variable)
    return None if found is None or found[0] else found[1]
