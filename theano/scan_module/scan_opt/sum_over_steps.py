"""The sum over all steps of a value of the step, as an expression outside the loop.

``plan_sum`` checks whether the sum can be computed outside and says how; ``emit_sum`` builds it.
A sum of products over the steps is one product whose inner dimension runs over steps and rows:

    sum_t A[t].dot(B[t])  =  [A[0] A[1] …].dot([B[0]; B[1]; …])

What is linear (a transpose, a slice, a product with an invariant) is applied to the sum once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.scalar.basic import Add, Cast, Mul, Neg, Sub, TrueDiv
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.scan_module.scan_opt.gathers import is_scatter
from theano.scan_module.scan_opt.step_analysis import (
    StepAnalysis,
    batched_product_of,
    product_of,
)
from theano.scan_module.scan_opt.zeros import is_zero


@dataclass(frozen=True)
class Contraction:
    """A sum of products of matrices: one product."""

    left: Variable
    right: Variable


@dataclass(frozen=True)
class BatchedContraction:
    """A sum of products of stacks of matrices: one product of stacks."""

    left: Variable
    right: Variable


@dataclass(frozen=True)
class Scatter:
    """A sum of rows added to an array of zeros at indices: one such addition."""

    node: Apply


@dataclass(frozen=True)
class RowSum:
    """A sum over axes of a value: one sum over the steps and these axes."""

    value: Variable
    axes: tuple[int, ...] | None


@dataclass(frozen=True)
class StepSum:
    """A sum over the steps of a value as it is."""

    value: Variable


@dataclass(frozen=True)
class Repeated:
    """A value that is the same in every step, times the number of steps."""

    value: Variable


@dataclass(frozen=True)
class Linear:
    """A linear operation applied to a sum: argument ``position`` of ``node`` is summed."""

    node: Apply
    position: int
    inner: Plan


@dataclass(frozen=True)
class Combination:
    """A sum or difference of sums."""

    signs: tuple[int, ...]
    terms: tuple[Plan, ...]


@dataclass(frozen=True)
class Refusal:
    """Why a sum stays in the loop."""

    reason: str


Plan = (
    Contraction | BatchedContraction | Scatter | RowSum | StepSum | Repeated | Linear | Combination
)


@dataclass(frozen=True)
class Outside:
    """What the outer graph offers: values of all steps, invariants, the number of steps."""

    values: Callable[[Variable], Variable]
    invariant: Callable[[Variable], Variable]
    steps: Variable


def signed_terms(variable: Variable, sign: int = 1) -> list[tuple[int, Variable]]:
    """The terms of a sum, with their signs, looking through nested sums and differences."""
    node = variable.owner
    if node is not None and isinstance(node.op, Elemwise):
        scalar_op = node.op.scalar_op
        same_shape = all(a.type.broadcastable == variable.type.broadcastable for a in node.inputs)
        if isinstance(scalar_op, Add) and same_shape:
            return [term for argument in node.inputs for term in signed_terms(argument, sign)]
        if isinstance(scalar_op, Sub) and same_shape:
            first, second = node.inputs
            return signed_terms(first, sign) + signed_terms(second, -sign)
        if isinstance(scalar_op, Neg):
            return signed_terms(node.inputs[0], -sign)
    return [(sign, variable)]


def plan_sum(value: Variable, step: StepAnalysis, stored: set[Variable]) -> Plan | Refusal:
    """How to compute the sum of a value over the steps outside the loop.

    Parameters
    ----------
    value
        A value of the step.
    step
        Facts about the step.
    stored
        Values of which all steps can be read outside at no cost.
    """
    if not step.varies(value):
        return Repeated(value)
    if not step.shape_is_fixed(value):
        return Refusal("its shape may change between steps")
    if value in stored:
        return StepSum(value)
    terms = signed_terms(value)
    if len(terms) > 1 or terms[0][0] < 0:
        return _plan_combination(terms, step, stored)
    for rule in (_plan_product, _plan_scatter, _plan_row_sum, _plan_linear):
        plan = rule(value, step, stored)
        if plan is not None:
            return plan
    if value.type.ndim <= 1 or value.type.ndim <= step.rank_of_sequences(value):
        return StepSum(value)
    return Refusal("storing it for all steps would take more memory than summing it in the loop")


def _plan_combination(terms, step: StepAnalysis, stored: set[Variable]) -> Plan | Refusal:
    plans = [plan_sum(term, step, stored) for _, term in terms]
    for plan in plans:
        if isinstance(plan, Refusal):
            return plan
    return Combination(tuple(sign for sign, _ in terms), tuple(plans))


def _plan_product(value: Variable, step: StepAnalysis, stored) -> Plan | Refusal | None:
    operands, kind = product_of(value), Contraction
    if operands is None:
        operands, kind = batched_product_of(value), BatchedContraction
    if operands is None:
        return None
    varying = [step.varies(operand) for operand in operands]
    if not all(varying):
        position = varying.index(True)
        inner = plan_sum(operands[position], step, stored)
        return inner if isinstance(inner, Refusal) else Linear(value.owner, position, inner)
    for operand in operands:
        if not step.shape_is_fixed(operand):
            return Refusal("an operand's shape may change between steps")
    batches = [operand.type.broadcastable[:-2] for operand in operands]
    if kind is BatchedContraction and batches[0] != batches[1]:
        return Refusal("one of the stacks of matrices is broadcast against the other")
    return kind(*operands)


def _plan_scatter(value: Variable, step: StepAnalysis, stored) -> Plan | Refusal | None:
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


def _plan_row_sum(value: Variable, step: StepAnalysis, stored) -> Plan | None:
    node = value.owner
    if node is None or not isinstance(node.op, Sum):
        return None
    # without a trace of the summand, storing the smaller sum is cheaper
    return RowSum(node.inputs[0], node.op.axis) if node.inputs[0] in stored else None


def _plan_linear(value: Variable, step: StepAnalysis, stored) -> Plan | Refusal | None:
    node = value.owner
    if node is None:
        return None
    position = _linear_position(node, step)
    if position is None:
        return None
    inner = plan_sum(node.inputs[position], step, stored)
    if isinstance(inner, Refusal):
        return inner
    return Linear(node, position, inner)


def _linear_position(node: Apply, step: StepAnalysis) -> int | None:
    """Which argument a node is linear in, the others being invariant; None if it is not linear."""
    op = node.op
    others_invariant = not any(step.varies(argument) for argument in node.inputs[1:])
    if isinstance(op, DimShuffle):
        return 0
    if isinstance(op, Reshape | SpecifyShape | Subtensor) and others_invariant:
        return 0
    if isinstance(op, IncSubtensor):
        addressed = not any(step.varies(argument) for argument in node.inputs[2:])
        # a value set into zeros is the same as one added to zeros
        base = node.inputs[0]
        zero = not step.varies(base) and is_zero(step.outer_value(base))
        return 1 if addressed and zero else None
    if isinstance(op, Elemwise):
        varying = [k for k, argument in enumerate(node.inputs) if step.varies(argument)]
        if len(varying) != 1:
            return None
        if isinstance(op.scalar_op, Mul):
            return varying[0]
        if isinstance(op.scalar_op, TrueDiv) and varying == [0]:
            return 0
        if isinstance(op.scalar_op, Cast) and _is_floating(node):
            return 0
    return None


def _is_floating(node: Apply) -> bool:
    return all(v.type.dtype.startswith("float") for v in (*node.inputs, *node.outputs))


def stored_values(plan: Plan) -> list[Variable]:
    """The values of the step of which a plan reads all steps."""
    match plan:
        case Contraction(left, right):
            return [_viewed(left), _viewed(right)]
        case BatchedContraction(left, right):
            return [left, right]
        case Scatter(node):
            return [node.inputs[1], node.inputs[2]]
        case RowSum(value, _) | StepSum(value):
            return [value]
        case Linear(_, _, inner):
            return stored_values(inner)
        case Combination(_, terms):
            return [value for term in terms for value in stored_values(term)]
        case _:
            return []


def emit_sum(plan: Plan, outside: Outside) -> Variable:
    """Build the sum in the outer graph."""
    match plan:
        case Contraction(left, right):
            return pt.dot(_stacked_columns(left, outside), _stacked_rows(right, outside))
        case BatchedContraction(left, right):
            return _batched(outside.values(left), outside.values(right))
        case Scatter(node):
            return _scatter(node, outside)
        case RowSum(value, axes):
            over = tuple(range(value.type.ndim)) if axes is None else axes
            return _sum(outside.values(value), (0, *(axis + 1 for axis in over)), value)
        case StepSum(value):
            return _sum(outside.values(value), (0,), value)
        case Repeated(value):
            return (outside.invariant(value) * outside.steps).astype(value.type.dtype)
        case Linear(node, position, inner):
            arguments = [
                emit_sum(inner, outside) if k == position else outside.invariant(argument)
                for k, argument in enumerate(node.inputs)
            ]
            return node.op(*arguments)
        case Combination(signs, terms):
            total = None
            for sign, term in zip(signs, terms, strict=True):
                emitted = emit_sum(term, outside)
                if total is None:
                    total = emitted if sign > 0 else -emitted
                else:
                    total = total + emitted if sign > 0 else total - emitted
            return total
    raise TypeError(f"no way to sum {plan!r}")


def _sum(values: Variable, axes: tuple[int, ...], like: Variable) -> Variable:
    return values.sum(axis=axes, dtype=like.type.dtype)


def _viewed(operand: Variable) -> Variable:
    """What an operand of a product is a transpose, a row or a column of; or the operand."""
    node = operand.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = tuple(node.op.new_order)
        if order == (1, 0) or order in ((0, "x"), ("x", 0)):
            return node.inputs[0]
    return operand


def _view_order(operand: Variable) -> tuple:
    return (0, 1) if _viewed(operand) is operand else tuple(operand.owner.op.new_order)


def _stacked_rows(operand: Variable, outside: Outside) -> Variable:
    """The operand of all steps, one above the other: (steps * rows, columns)."""
    values = outside.values(_viewed(operand))
    match _view_order(operand):
        case (0, 1):
            return values.reshape((values.shape[0] * values.shape[1], values.shape[2]))
        case (1, 0):
            swapped = values.dimshuffle(0, 2, 1)
            return swapped.reshape((swapped.shape[0] * swapped.shape[1], swapped.shape[2]))
        case ("x", 0):
            return values
        case _:
            return values.reshape((values.shape[0] * values.shape[1], 1))


def _stacked_columns(operand: Variable, outside: Outside) -> Variable:
    """The operand of all steps, side by side: (rows, steps * columns)."""
    values = outside.values(_viewed(operand))
    match _view_order(operand):
        case (1, 0):
            # the rows of what was transposed lie one after the other in memory already
            return values.reshape((values.shape[0] * values.shape[1], values.shape[2])).T
        case (0, 1):
            swapped = values.dimshuffle(1, 0, 2)
            return swapped.reshape((swapped.shape[0], swapped.shape[1] * swapped.shape[2]))
        case (0, "x"):
            return values.T
        case _:
            return values.reshape((1, values.shape[0] * values.shape[1]))


def _batched(left: Variable, right: Variable) -> Variable:
    """``sum_t left[t] @ right[t]`` of stacks: steps become part of the inner dimension."""
    rank = left.type.ndim
    batch = tuple(range(1, rank - 2))
    # (steps, batch…, rows, inner) -> (batch…, rows, steps * inner)
    left = left.dimshuffle(*batch, rank - 2, 0, rank - 1)
    left = left.reshape(
        (*(left.shape[k] for k in range(rank - 2)), left.shape[-2] * left.shape[-1])
    )
    # (steps, batch…, inner, columns) -> (batch…, steps * inner, columns)
    right = right.dimshuffle(*batch, 0, rank - 2, rank - 1)
    first = rank - 3
    right = right.reshape(
        (
            *(right.shape[k] for k in range(first)),
            right.shape[first] * right.shape[first + 1],
            right.shape[-1],
        )
    )
    return pt.matmul(left, right)


def _scatter(node: Apply, outside: Outside) -> Variable:
    base, rows, indices = node.inputs
    all_rows, all_indices = outside.values(rows), outside.values(indices).flatten()
    first = indices.type.ndim + 1
    row_shape = [all_rows.shape[k] for k in range(first, all_rows.type.ndim)]
    flat_rows = all_rows.reshape((all_indices.shape[0], *row_shape))
    return pt.inc_subtensor(outside.invariant(base)[all_indices], flat_rows)
