"""A sum with a negative term becomes a difference, in canonical form already.

    1 + -1 * s   ->   1 - s

The gradient of ``log1p(-s)`` divides by the sum, and that of a sigmoid multiplies by the difference:
they cancel once they are the same. PyTensor makes a difference of the sum after all cancellation.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.math import add, mul, sub

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter


@node_rewriter([add])
def sum_with_negative_term(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Rewrite ``a + -1 * b`` as ``a - b``."""
    if len(node.inputs) != 2:
        return None
    for term, other in (node.inputs, reversed(node.inputs)):
        positive = _negated(term)
        # the negation of a narrower integer may wrap
        if positive is None or term.type.dtype != node.outputs[0].type.dtype:
            continue
        result: Any = sub(other, positive)
        if result.type == node.outputs[0].type:
            copy_stack_trace(node.outputs, result)
            return [result]
    return None


def _negated(term: Any) -> Any:
    """Return what a term is -1 times; None if it is no such product."""
    product = term.owner
    if product is None or product.op != mul:
        return None
    rest = [v for v in product.inputs if not _is_minus_one(v)]
    if len(rest) != len(product.inputs) - 1:
        return None
    return rest[0] if len(rest) == 1 else mul(*rest)


def _is_minus_one(factor: Variable) -> bool:
    while factor.owner is not None and all(factor.type.broadcastable):  # type: ignore[attr-defined]
        if len(factor.owner.inputs) != 1:
            return False
        factor = factor.owner.inputs[0]
    return is_a(factor, Constant) and factor.data.size == 1 and factor.data.item() == -1
