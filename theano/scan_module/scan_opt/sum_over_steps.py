"""The sum over all steps of a value of the step, as an expression outside the loop.

``plan_sum`` checks whether the sum can be computed outside and says how; ``emit_sum`` builds it.
A sum of products over the steps is one product whose inner dimension runs over steps and rows:

    sum_t A[t].dot(B[t])  =  [A[0] A[1] …].dot([B[0]; B[1]; …])

What is linear (a transpose, a slice, a product with an invariant) is applied to the sum once.
A sum has a dtype, in which the loop would have added: a narrower term is widened before it is
added to others, never after. Element-wise terms leave as one, computed step by step as the loop
would have: only what holds a product is added up by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import Add, Cast, Mul, Neg, Sub, TrueDiv
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Sum
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type import integer_dtypes

from theano.scan_module.scan_opt.all_steps_at_once import AllSteps
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
    dtype: str


@dataclass(frozen=True)
class StepSum:
    """A sum over the steps of a value as it is."""

    value: Variable
    dtype: str


@dataclass(frozen=True)
class WeightedSum:
    """A sum over the steps of a value that is computed again from values at hand."""

    value: Variable
    reads: tuple[Variable, ...]
    dtype: str


@dataclass(frozen=True)
class Repeated:
    """A value that is the same in every step, times the number of steps."""

    value: Variable
    dtype: str


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
    Contraction
    | BatchedContraction
    | Scatter
    | RowSum
    | StepSum
    | WeightedSum
    | Repeated
    | Linear
    | Combination
)


@dataclass(frozen=True)
class Outside:
    """What the outer graph offers: values of all steps, invariants, the number of steps."""

    step: StepAnalysis
    values: Callable[[Variable], Variable]
    invariant: Callable[[Variable], Variable]
    steps: Variable


def signed_terms(
    variable: Variable, step: StepAnalysis, total: Variable | None = None
) -> list[tuple[int, Variable]]:
    """The terms of a sum, with their signs, that may leave a loop apart from each other.

    Those that hold a product are terms of their own, and so is ``total``. The others are one
    term: to add up operands of a difference by themselves loses what the difference keeps.
    """
    apart: list[tuple[int, Variable]] = []
    rest: list[tuple[int, Variable]] = []
    for sign, term in _split(variable, step, total):
        (apart if term is total or holds_product(term, step) else rest).append((sign, term))
    if len(rest) > 1:
        rest = [(1, step.sum_of(tuple(rest), variable.type.dtype))]
    return apart + rest


def _split(
    variable: Variable, step: StepAnalysis, total: Variable | None, sign: int = 1
) -> list[tuple[int, Variable]]:
    """The terms of nested sums and differences, as far as one of them is of a kind of its own."""
    node = variable.owner
    if node is None or not _is_sum_in(variable, node):
        return [(sign, variable)]
    signs = (sign, -sign) if isinstance(node.op.scalar_op, Sub) else (sign,) * len(node.inputs)
    if isinstance(node.op.scalar_op, Neg):
        signs = (-sign,)
    terms = [
        term
        for argument_sign, argument in zip(signs, node.inputs, strict=True)
        for term in _split(argument, step, total, argument_sign)
    ]
    kept_together = not any(term is total or holds_product(term, step) for _, term in terms)
    return [(sign, variable)] if kept_together else terms


def _is_sum_in(variable: Variable, node: Apply) -> bool:
    """Whether a value is a sum or difference of values of its own shape, added in its dtype."""
    return (
        isinstance(node.op, Elemwise)
        and isinstance(node.op.scalar_op, Add | Sub | Neg)
        and all(a.type.broadcastable == variable.type.broadcastable for a in node.inputs)
    )


def holds_product(variable: Variable, step: StepAnalysis) -> bool:
    """Whether a varying value is a product, a scatter, a sum over axes, or linear in one."""
    node = variable.owner
    if node is None or not step.varies(variable):
        return False
    if product_of(variable) or batched_product_of(variable):
        return True
    if is_scatter(node) or isinstance(node.op, Sum):
        return True
    if _is_sum_in(variable, node):
        return any(holds_product(argument, step) for argument in node.inputs)
    position = _linear_position(node, step)
    return position is not None and holds_product(node.inputs[position], step)


def plan_sum(
    value: Variable, step: StepAnalysis, stored: set[Variable], dtype: str
) -> Plan | Refusal:
    """How to compute the sum of a value over the steps outside the loop.

    Parameters
    ----------
    value
        A value of the step.
    step
        Facts about the step.
    stored
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
    if value in stored:
        return StepSum(value, dtype)
    plan = _plan_terms(value, step, stored) if value.type.dtype == dtype else None
    plan = plan or _plan_linear(value, step, stored, dtype)
    if plan is not None:
        return plan
    reads = _weighted_values(value, step, stored)
    if reads is not None:
        return WeightedSum(value, reads, dtype)
    if value.type.ndim <= 1 or value.type.ndim <= step.rank_of_sequences(value):
        return StepSum(value, dtype)
    if value.type.dtype != dtype and holds_product(value, step):
        return Refusal(f"it is {value.type.dtype}, and the sum {dtype}")
    return Refusal("storing it for all steps would take more memory than summing it in the loop")


def _plan_terms(value: Variable, step: StepAnalysis, stored) -> Plan | Refusal | None:
    """The plan of a value that is computed in the dtype of the sum."""
    terms = signed_terms(value, step)
    if len(terms) > 1 or terms[0][0] < 0:
        return _plan_combination(terms, step, stored, value.type.dtype)
    for rule in (_plan_product, _plan_scatter, _plan_row_sum):
        plan = rule(value, step, stored)
        if plan is not None:
            return plan
    return None


def _plan_combination(terms, step: StepAnalysis, stored, dtype: str) -> Plan | Refusal:
    plans = [plan_sum(term, step, stored, dtype) for _, term in terms]
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
        inner = plan_sum(operands[position], step, stored, value.type.dtype)
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
    if node.inputs[0] not in stored:
        return None
    return RowSum(node.inputs[0], node.op.axis, value.type.dtype)


def _plan_linear(value: Variable, step: StepAnalysis, stored, dtype: str) -> Plan | Refusal | None:
    node = value.owner
    if node is None:
        return None
    position = _linear_position(node, step)
    if position is None:
        return None
    argument = node.inputs[position]
    if not isinstance(node.op, _VIEWS):
        # What is scaled may overflow in a sum where the scaled values do not.
        if value.type.dtype != dtype or not (
            isinstance(node.op, IncSubtensor) or holds_product(argument, step)
        ):
            return None
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
            dtype = argument.type.dtype
    inner = plan_sum(argument, step, stored, dtype)
    if isinstance(inner, Refusal):
        return inner
    return Linear(node, position, inner)


# the elements of their first argument, moved
_VIEWS = (DimShuffle, Reshape, SpecifyShape, Subtensor)


def _linear_position(node: Apply, step: StepAnalysis) -> int | None:
    """Which argument a node is linear in, the others being invariant; None if it is not linear."""
    op = node.op
    others_invariant = not any(step.varies(argument) for argument in node.inputs[1:])
    if isinstance(op, _VIEWS) and others_invariant:
        return 0
    if isinstance(op, IncSubtensor):
        addressed = not any(step.varies(argument) for argument in node.inputs[2:])
        # a value set into zeros is the same as one added to zeros
        base = node.inputs[0]
        zero = not step.varies(base) and is_zero(step.outer_value(base))
        return 1 if addressed and zero else None
    return _scaled_position(node, step)


def _scaled_position(node: Apply, step: StepAnalysis) -> int | None:
    """Which argument an element-wise node multiplies by what is invariant, or casts; or None."""
    if not isinstance(node.op, Elemwise):
        return None
    varying = [k for k, argument in enumerate(node.inputs) if step.varies(argument)]
    if len(varying) != 1:
        return None
    scalar_op = node.op.scalar_op
    divided = isinstance(scalar_op, TrueDiv) and varying == [0]
    cast = isinstance(scalar_op, Cast) and _is_floating(node)
    return varying[0] if isinstance(scalar_op, Mul) or divided or cast else None


def _is_floating(node: Apply) -> bool:
    return all(v.type.dtype.startswith("float") for v in (*node.inputs, *node.outputs))


def _weighted_values(
    value: Variable, step: StepAnalysis, stored: set[Variable]
) -> tuple[Variable, ...] | None:
    """The stored values that a value is a sum of, with invariant factors; None if of others."""
    if value in stored:
        return (value,)
    node = value.owner
    if node is None or not isinstance(node.op, Elemwise):
        return None
    if not isinstance(node.op.scalar_op, Add | Sub | Neg | Cast):
        if _scaled_position(node, step) is None:
            return None
    reads: dict[Variable, None] = {}
    for argument in node.inputs:
        if step.varies(argument):
            found = _weighted_values(argument, step, stored)
            if found is None:
                return None
            reads.update(dict.fromkeys(found))
    return tuple(reads)


def stored_values(plan: Plan) -> list[Variable]:
    """The values of the step of which a plan reads all steps."""
    match plan:
        case Contraction(left, right):
            return [_viewed(left), _viewed(right)]
        case BatchedContraction(left, right):
            return [left, right]
        case Scatter(node):
            return [node.inputs[1], node.inputs[2]]
        case RowSum(value, _, _) | StepSum(value, _):
            return [value]
        case WeightedSum(_, reads, _):
            return list(reads)
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
        case RowSum(value, axes, dtype):
            over = range(value.type.ndim) if axes is None else axes
            return outside.values(value).sum(axis=(0, *(k + 1 for k in over)), dtype=dtype)
        case StepSum(value, dtype):
            return outside.values(value).sum(axis=0, dtype=dtype)
        case WeightedSum(value, reads, dtype):
            known = {read: outside.values(read) for read in reads}
            return AllSteps(outside.step, known).value(value).sum(axis=0, dtype=dtype)
        case Repeated(value, dtype):
            return _repeated(outside.invariant(value), outside.steps, dtype)
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


def _repeated(value: Variable, steps: Variable, dtype: str) -> Variable:
    """A value times the number of steps; zero without steps, whatever the value is."""
    if value.type.dtype in integer_dtypes or value.type.dtype == "bool":
        if dtype in integer_dtypes:
            return value.astype(dtype) * steps.astype(dtype)
    product = (value * steps).astype(dtype)
    if isinstance(steps, Constant) and steps.data > 0:
        return product
    return pt.switch(pt.gt(steps, 0), product, pt.zeros((), dtype=dtype))


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
