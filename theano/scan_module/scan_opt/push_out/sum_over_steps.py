"""Sums over all steps of a value of the step: whether they can be computed outside, and how.

``plan_sum`` checks and says how; ``emit_sums`` builds what it says. A sum of products over the
steps is one product whose inner dimension runs over steps and rows:

    sum_t A[t].dot(B[t])  =  [A[0] A[1] …].dot([B[0]; B[1]; …])

What is linear (a transpose, a slice, a product with an invariant) is applied to the sum once.
A sum has a dtype, in which the loop would have added: a narrower term is widened before it is
added to others, never after.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Variable
from pytensor.scalar.basic import Add, Cast, Neg, Sub
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.subtensor import IncSubtensor

from theano.rewriting.zeros import is_zero
from theano.scan_module.scan_opt.push_out.sum_plans import (
    BatchedContraction,
    Combination,
    Contraction,
    FilterGradient,
    Joined,
    Linear,
    Plan,
    Refusal,
    Repeated,
    RowSum,
    Scatter,
    StepSum,
    WeightedSum,
    viewed,
)
from theano.scan_module.scan_opt.push_out.sum_terms import (
    VIEWS,
    holds_product,
    linear_position,
    scaled_position,
    signed_terms,
)
from theano.scan_module.step.gathers import is_scatter
from theano.scan_module.step.joined import MOST_PARTS, parts_along
from theano.scan_module.step.step_analysis import (
    StepAnalysis,
    batched_product_of,
    correlation_of,
    product_of,
)


def plan_sum(
    value: Variable, step: StepAnalysis, available: set[Variable], dtype: str
) -> Plan | Refusal:
    """Return how to compute the sum of a value over the steps outside the loop.

    Parameters
    ----------
    value
        A value of the step.
    step
        Facts about the step.
    available
        Values of which all steps can be read outside at no cost.
    dtype
        What the loop adds in, at least as wide as the value's.
    """
    if dtype == "bool":
        return Refusal("booleans are not added up")
    if not step.varies(value):
        return Repeated(value, dtype)
    if not step.shape_is_fixed(value):
        return Refusal("its shape may change between steps")
    if value in available:
        return StepSum(value, dtype)
    plan = _plan_terms(value, step, available) if value.type.dtype == dtype else None
    plan = plan or _plan_linear(value, step, available, dtype)
    if plan is not None:
        return plan
    reads = _weighted_values(value, step, available)
    if reads is not None:
        return WeightedSum(value, reads, dtype)
    if value.type.ndim <= 1 or value.type.ndim <= step.rank_of_sequences(value):
        return StepSum(value, dtype)
    if value.type.dtype != dtype and holds_product(value, step):
        return Refusal(f"it is {value.type.dtype}, and the sum {dtype}")
    return Refusal("storing it for all steps would take more memory than summing it in the loop")


def _plan_terms(value: Variable, step: StepAnalysis, available) -> Plan | Refusal | None:
    """Return the plan of a value that is computed in the dtype of the sum."""
    terms = signed_terms(value, step)
    if len(terms) > 1 or terms[0][0] < 0:
        return _plan_combination(terms, step, available, value.type.dtype)
    for rule in (_plan_product, _plan_correlation, _plan_scatter, _plan_row_sum):
        plan = rule(value, step, available)
        if plan is not None:
            return plan
    return None


def _plan_combination(
    terms: Sequence[tuple[int, Variable]],
    step: StepAnalysis,
    available: set[Variable],
    dtype: str,
) -> Plan | Refusal:
    plans: list[Plan] = []
    refused: list[Refusal] = []
    for _, term in terms:
        plan = plan_sum(term, step, available, dtype)
        if isinstance(plan, Refusal):
            refused.append(plan)
        else:
            plans.append(plan)
    if refused:
        return refused[0]
    return Combination(tuple(sign for sign, _ in terms), tuple(plans))


def _plan_product(value: Variable, step: StepAnalysis, available) -> Plan | Refusal | None:
    operands = product_of(value)
    is_batched = operands is None
    if operands is None:
        operands = batched_product_of(value)
    if operands is None:
        return None
    linear = _plan_bilinear(value, operands, step, available)
    if linear is not None:
        return linear
    matrices = [operand for operand in operands if not _is_thin(operand)]
    if not is_batched and _is_thin(value):
        # without a trace of the matrix, storing the vector is cheaper
        if not all(viewed(matrix) in available for matrix in matrices):
            return StepSum(value, value.type.dtype)
    if not is_batched:
        return _plan_joined(operands, step, available) or Contraction(*operands)
    batches = [operand.type.broadcastable[:-2] for operand in operands]
    if batches[0] != batches[1]:
        return Refusal("one of the stacks of matrices is broadcast against the other")
    return BatchedContraction(*operands)


def _plan_joined(operands: Sequence[Variable], step: StepAnalysis, available) -> Joined | None:
    """Return the plan where the result's rows, or columns, are those of parts that the step joins.

    A part of which all steps are available is then not stored once more.
    """
    for axis, operand in enumerate(operands):
        parts = None if viewed(operand) in available else parts_along(operand, axis)
        if parts is None or len(parts) > MOST_PARTS:
            continue
        if not any(viewed(part) in available for part in parts):
            continue
        if all(
            step.varies(part)
            and step.shape_is_fixed(part)
            and part.type.dtype == operand.type.dtype
            for part in parts
        ):
            other = operands[1 - axis]
            pairs = [(part, other) if axis == 0 else (other, part) for part in parts]
            return Joined(axis, tuple(Contraction(*pair) for pair in pairs))
    return None


def _plan_correlation(value: Variable, step: StepAnalysis, available) -> Plan | Refusal | None:
    node = correlation_of(value)
    if node is None or any(step.varies(length) for length in node.inputs[2:]):
        return None
    linear = _plan_bilinear(value, node.inputs[:2], step, available)
    if linear is not None:
        return linear
    # of other directions, the sum over the steps is over channels, not over images
    return FilterGradient(node) if node.op.direction == "weights" else None


def _plan_bilinear(
    value: Variable, operands: Sequence[Variable], step: StepAnalysis, available
) -> Plan | Refusal | None:
    """Return the plan where one operand varies; None where both do, and have the same shape in all steps."""
    varying = [step.varies(operand) for operand in operands]
    if not all(varying):
        position = varying.index(True)
        inner = plan_sum(operands[position], step, available, value.type.dtype)
        return inner if isinstance(inner, Refusal) else Linear(value.owner, position, inner)
    if not all(step.shape_is_fixed(operand) for operand in operands):
        return Refusal("an operand's shape may change between steps")
    return None


def _is_thin(value: Variable) -> bool:
    """Return whether it is a number, a vector, or a matrix of one row or column."""
    return value.type.broadcastable.count(False) <= 1


def _plan_scatter(value: Variable, step: StepAnalysis, available) -> Plan | Refusal | None:
    node = value.owner
    if node is None or not is_scatter(node):
        return None
    base, rows, indices = node.inputs
    if step.varies(base) or not is_zero(step.outer_value(base)):
        return Refusal("rows are added to an array that is not zero")
    row_rank = base.type.ndim - 1
    if rows.type.ndim != indices.type.ndim + row_rank or any(
        narrow and not wide
        for narrow, wide in zip(
            rows.type.broadcastable[indices.type.ndim :], base.type.broadcastable[1:], strict=True
        )
    ):
        return Refusal("the rows are broadcast")
    if not (step.shape_is_fixed(rows) and step.shape_is_fixed(indices)):
        return Refusal("the number of rows may change between steps")
    return Scatter(node)


def _plan_row_sum(value: Variable, step: StepAnalysis, available) -> Plan | None:
    node = value.owner
    if node is None or not isinstance(node.op, Sum):
        return None
    # without a trace of the summand, storing the smaller sum is cheaper
    if node.inputs[0] not in available:
        return None
    return RowSum(node.inputs[0], node.op.axis, value.type.dtype)


def _plan_linear(
    value: Variable, step: StepAnalysis, available, dtype: str
) -> Plan | Refusal | None:
    node = value.owner
    if node is None:
        return None
    position = linear_position(node, step)
    if position is None:
        return None
    argument = node.inputs[position]
    if not isinstance(node.op, VIEWS):
        # What is scaled may overflow in a sum where the scaled values do not.
        if value.type.dtype != dtype or not (
            isinstance(node.op, IncSubtensor) or holds_product(argument, step)
        ):
            return None
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
            dtype = argument.type.dtype
    inner = plan_sum(argument, step, available, dtype)
    if isinstance(inner, Refusal):
        return inner
    return Linear(node, position, inner)


def _weighted_values(
    value: Variable, step: StepAnalysis, available: set[Variable]
) -> tuple[Variable, ...] | None:
    """Return the values available that a value is a sum of, with invariant factors; None if of others."""
    if value in available:
        return (value,)
    node = value.owner
    if node is None or not isinstance(node.op, Elemwise):
        return None
    if not isinstance(node.op.scalar_op, Add | Sub | Neg | Cast):
        if scaled_position(node, step) is None:
            return None
    reads: dict[Variable, None] = {}
    for argument in node.inputs:
        if step.varies(argument):
            found = _weighted_values(argument, step, available)
            if found is None:
                return None
            reads.update(dict.fromkeys(found))
    return tuple(reads)
