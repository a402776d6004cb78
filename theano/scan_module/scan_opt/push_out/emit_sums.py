"""The sum over all steps of a value of the step, built in the outer graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.type import integer_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, matmul
from theano.rewriting.lengths import lengths_of
from theano.scan_module.scan_opt.push_out.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.push_out.sum_plans import (
    BatchedContraction,
    Combination,
    Contraction,
    FilterGradient,
    Joined,
    Linear,
    Plan,
    Repeated,
    RowSum,
    Scatter,
    StepSum,
    WeightedSum,
    viewed,
)
from theano.scan_module.step.over_all_steps import steps_as_rows
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Outside:
    """The outer graph's values: values of all steps, invariants, the number of steps.

    Attributes
    ----------
    rows, columns
        The operands of products that were stacked so far, in one way and in the other.
    """

    step: StepAnalysis
    values: Callable[[Variable], TensorVariable]
    invariant: Callable[[Variable], TensorVariable]
    steps: TensorVariable
    rows: dict[Variable, TensorVariable] = field(default_factory=dict)
    columns: dict[Variable, TensorVariable] = field(default_factory=dict)


def emit_sum(plan: Plan, outside: Outside) -> TensorVariable:
    """Build the sum in the outer graph."""
    match plan:
        case Contraction(left, right):
            columns, rows = outside.columns, outside.rows
            if left not in columns:
                columns[left] = _stacked_columns(left, outside)
            if right not in rows:
                rows[right] = _stacked_rows(right, outside)
            return pt.dot(columns[left], rows[right])
        case BatchedContraction(left, right):
            return _batched(outside.values(left), outside.values(right))
        case FilterGradient(node):
            return _filter_gradient(node, outside)
        case Scatter(node):
            return _scatter(node, outside)
        case RowSum(value, axes, dtype):
            over = range(value.type.ndim) if axes is None else axes
            return outside.values(value).sum(axis=(0, *(k + 1 for k in over)), dtype=dtype)
        case StepSum(value, dtype):
            return outside.values(value).sum(axis=0, dtype=dtype)
        case WeightedSum(value, reads, dtype):
            known = {read: outside.values(read) for read in reads}
            weighted = known_tensor(AllSteps(outside.step, known).value(value))
            return weighted.sum(axis=0, dtype=dtype)
        case Repeated(value, dtype):
            return _repeated(outside.invariant(value), outside.steps, dtype)
        case Linear(node, position, inner):
            arguments = [
                emit_sum(inner, outside) if k == position else outside.invariant(argument)
                for k, argument in enumerate(node.inputs)
            ]
            return known_tensor(node.op(*arguments))
        case Joined(axis, parts):
            return pt.join(axis, *(emit_sum(part, outside) for part in parts))
        case Combination(signs, terms):
            total: TensorVariable | None = None
            for sign, term in zip(signs, terms, strict=True):
                emitted = emit_sum(term, outside)
                if total is None:
                    total = emitted if sign > 0 else -emitted
                else:
                    total = total + emitted if sign > 0 else total - emitted
            assert total is not None
            return total
    raise TypeError(f"no way to sum {plan!r}")


def _repeated(value: TensorVariable, steps: TensorVariable, dtype: str) -> TensorVariable:
    """Return a value times the number of steps; zero without steps, whatever the value is."""
    if value.type.dtype in integer_dtypes or value.type.dtype == "bool":
        if dtype in integer_dtypes:
            return value.astype(dtype) * steps.astype(dtype)
    product = (value * steps).astype(dtype)
    if isinstance(steps, Constant) and steps.data > 0:
        return product
    return pt.switch(pt.gt(steps, 0), product, pt.zeros((), dtype=dtype))


def _view_order(operand: Variable) -> tuple:
    if viewed(operand) is operand:
        return (0, 1)
    assert operand.owner is not None
    return tuple(operand.owner.op.new_order)


def _stacked_rows(operand: Variable, outside: Outside) -> TensorVariable:
    """Return the operand of all steps, one above the other: (steps * rows, columns)."""
    values = outside.values(viewed(operand))
    match _view_order(operand):
        case (0, 1):
            return steps_as_rows(values)
        case (1, 0):
            return steps_as_rows(values.dimshuffle(0, 2, 1))
        case ("x", 0):
            return values
        case _:
            steps, rows = lengths_of(values)
            return values.reshape((steps * rows, 1))


def _stacked_columns(operand: Variable, outside: Outside) -> TensorVariable:
    """Return the operand of all steps, side by side: (rows, steps * columns)."""
    values = outside.values(viewed(operand))
    match _view_order(operand):
        case (1, 0):
            # the rows of what was transposed lie one after the other in memory already
            return steps_as_rows(values).T
        case (0, 1):
            steps, rows, columns = lengths_of(values)
            return values.dimshuffle(1, 0, 2).reshape((rows, steps * columns))
        case (0, "x"):
            return values.T
        case _:
            steps, rows = lengths_of(values)
            return values.reshape((1, steps * rows))


def _batched(left: TensorVariable, right: TensorVariable) -> TensorVariable:
    """``sum_t left[t] @ right[t]`` of stacks: steps become part of the inner dimension."""
    rank = left.type.ndim
    batch = tuple(range(1, rank - 2))
    # (steps, batch…, rows, inner) -> (batch…, rows, steps * inner)
    left = left.dimshuffle(*batch, rank - 2, 0, rank - 1)
    *before, steps, inner = lengths_of(left)
    left = left.reshape((*before, steps * inner))
    # (steps, batch…, inner, columns) -> (batch…, steps * inner, columns)
    right = right.dimshuffle(*batch, 0, rank - 2, rank - 1)
    *before, steps, inner, columns = lengths_of(right)
    return matmul(left, right.reshape((*before, steps * inner, columns)))


def _filter_gradient(node: Apply, outside: Outside) -> TensorVariable:
    images, top = (steps_as_rows(outside.values(operand)) for operand in node.inputs[:2])
    lengths = [outside.invariant(length) for length in node.inputs[2:]]
    return node.op.of_any_batch().applied(images, top, lengths)


def _scatter(node: Apply, outside: Outside) -> TensorVariable:
    base, rows, indices = node.inputs
    all_rows, all_indices = outside.values(rows), outside.values(indices).flatten()
    row_shape = lengths_of(all_rows)[indices.type.ndim + 1 :]
    flat_rows = all_rows.reshape((*lengths_of(all_indices), *row_shape))
    return pt.inc_subtensor(outside.invariant(base)[all_indices], flat_rows)
