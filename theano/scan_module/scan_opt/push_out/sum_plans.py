"""Plans of sums over the steps of a loop that are computed outside: as data."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import DimShuffle

from theano.support.data_classes import dataclass


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
class FilterGradient:
    """A sum of gradients by filters: one, of the images of all steps."""

    node: Apply


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
    """A sum over the steps of a value that is computed again from values available."""

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
class Joined:
    """Sums side by side along an axis."""

    axis: int
    parts: tuple[Plan, ...]


@dataclass(frozen=True)
class Combination:
    """A sum or difference of sums."""

    signs: tuple[int, ...]
    terms: tuple[Plan, ...]


Plan = (
    Contraction
    | BatchedContraction
    | FilterGradient
    | Scatter
    | RowSum
    | StepSum
    | WeightedSum
    | Repeated
    | Linear
    | Joined
    | Combination
)


@dataclass(frozen=True)
class Refusal:
    """Why a sum stays in the loop."""

    reason: str


def values_read(plan: Plan) -> list[Variable]:
    """Return the values of the step of which a plan reads all steps."""
    match plan:
        case Contraction(left, right):
            return [viewed(left), viewed(right)]
        case BatchedContraction(left, right):
            return [left, right]
        case FilterGradient(node):
            return list(node.inputs[:2])
        case Scatter(node):
            return [node.inputs[1], node.inputs[2]]
        case RowSum(value, _, _) | StepSum(value, _):
            return [value]
        case WeightedSum(_, reads, _):
            return list(reads)
        case Linear(_, _, inner):
            return values_read(inner)
        case Combination(_, terms) | Joined(_, terms):
            return [value for term in terms for value in values_read(term)]
        case _:
            return []


def viewed(operand: Variable) -> Variable:
    """Return what an operand of a product is a transpose, a row or a column of; or the operand."""
    node = operand.owner
    if node is not None and isinstance(node.op, DimShuffle):
        order = tuple(node.op.new_order)
        if order == (1, 0) or order in ((0, "x"), ("x", 0)):
            return node.inputs[0]
    return operand
