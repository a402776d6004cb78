"""The terms of a sum that a loop accumulates, and what leaves the loop apart from the others.

Element-wise terms leave as one, computed step by step as the loop would have: only what holds a
product is added up by itself.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.scalar.basic import Add, Cast, Mul, Neg, Sub, TrueDiv
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.rewriting.zeros import is_zero
from theano.scan_module.step.gathers import is_scatter
from theano.scan_module.step.step_analysis import (
    StepAnalysis,
    batched_product_of,
    correlation_of,
    product_of,
)

# the elements of their first argument, moved
VIEWS = (DimShuffle, Reshape, SpecifyShape, Subtensor)


def signed_terms(
    variable: Variable, step: StepAnalysis, total: Variable | None = None
) -> list[tuple[int, Variable]]:
    """Return the terms of a sum, with their signs, that may leave a loop apart from each other.

    Those that hold a product are separate terms, and so is ``total``. The others are one
    term: to add up operands of a difference by themselves loses what the difference keeps.
    """
    apart: list[tuple[int, Variable]] = []
    rest: list[tuple[int, Variable]] = []
    for sign, term in _split(variable, step, total, variable.type.dtype):
        (apart if term is total or holds_product(term, step) else rest).append((sign, term))
    if len(rest) > 1:
        rest = [(1, step.sum_of(tuple(rest), variable.type.dtype))]
    return apart + rest


def _split(
    variable: Variable, step: StepAnalysis, total: Variable | None, dtype: str, sign: int = 1
) -> list[tuple[int, Variable]]:
    """Return the terms of nested sums and differences, as far as one of them is of its own kind.

    A sum of a narrower dtype is one term: it wraps, or rounds, before it is widened.
    """
    node = variable.owner
    if node is None or variable.type.dtype != dtype or not _is_sum_in(variable, node):
        return [(sign, variable)]
    signs = (sign, -sign) if isinstance(node.op.scalar_op, Sub) else (sign,) * len(node.inputs)
    if isinstance(node.op.scalar_op, Neg):
        signs = (-sign,)
    terms = [
        term
        for argument_sign, argument in zip(signs, node.inputs, strict=True)
        for term in _split(argument, step, total, dtype, argument_sign)
    ]
    kept_together = not any(term is total or holds_product(term, step) for _, term in terms)
    return [(sign, variable)] if kept_together else terms


def _is_sum_in(variable: Variable, node: Apply) -> bool:
    """Return whether a value is a sum or difference of values of its own shape."""
    return (
        is_a(node.op, Elemwise)
        and isinstance(node.op.scalar_op, Add | Sub | Neg)
        and all(a.type.broadcastable == variable.type.broadcastable for a in node.inputs)
    )


def holds_product(variable: Variable, step: StepAnalysis) -> bool:
    """Return whether it varies and is a product, a correlation, a scatter, a sum, or linear in one."""
    if variable not in step.with_product:
        step.with_product[variable] = _holds_product(variable, step)
    return step.with_product[variable]


def _holds_product(variable: Variable, step: StepAnalysis) -> bool:
    node = variable.owner
    if node is None or not step.varies(variable):
        return False
    if product_of(variable) or batched_product_of(variable) or correlation_of(variable):
        return True
    if is_scatter(node) or is_a(node.op, Sum):
        return True
    if _is_sum_in(variable, node):
        return any(holds_product(argument, step) for argument in node.inputs)
    position = linear_position(node, step)
    return position is not None and holds_product(node.inputs[position], step)


def linear_position(node: Apply, step: StepAnalysis) -> int | None:
    """Return which argument a node is linear in, the others being invariant; None if it is not linear."""
    op = node.op
    others_invariant = not any(step.varies(argument) for argument in node.inputs[1:])
    if isinstance(op, VIEWS) and others_invariant:
        return 0
    if is_a(op, IncSubtensor):
        addressed = not any(step.varies(argument) for argument in node.inputs[2:])
        # a value set into zeros is the same as one added to zeros
        base = node.inputs[0]
        zero = not step.varies(base) and is_zero(step.outer_value(base))
        return 1 if addressed and zero else None
    return scaled_position(node, step)


def scaled_position(node: Apply, step: StepAnalysis) -> int | None:
    """Return which argument an element-wise node multiplies by what is invariant, or casts; or None."""
    if not is_a(node.op, Elemwise):
        return None
    varying = [k for k, argument in enumerate(node.inputs) if step.varies(argument)]
    if len(varying) != 1:
        return None
    scalar_op = node.op.scalar_op
    divided = isinstance(scalar_op, TrueDiv) and varying == [0]
    cast = is_a(scalar_op, Cast) and _is_floating(node)
    return varying[0] if isinstance(scalar_op, Mul) or divided or cast else None


def _is_floating(node: Apply) -> bool:
    return all(v.type.dtype.startswith("float") for v in (*node.inputs, *node.outputs))
