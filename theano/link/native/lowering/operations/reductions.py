"""Reductions over axes, and softmax."""

from __future__ import annotations

import pytensor.scalar as ps
from pytensor.scalar.basic import AND, OR, XOR, Add, Maximum, Minimum, Mul
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.math import Argmax, Max, Min, MulWithoutZeros
from pytensor.tensor.special import LogSoftmax, Softmax

from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Size, Value, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.scalar_types import DTYPES
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.sorting import largest_of_rows, turned
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# scalar operation -> the name of the operation in `Reduce`
REDUCTIONS = {Add: "add", Mul: "multiply", Maximum: "maximum", Minimum: "minimum"}
REDUCTIONS |= {AND: "and", OR: "or", XOR: "exclusive or", MulWithoutZeros: "multiply without zeros"}


# in PyTensor 3.3 the maximum and minimum define again what they compute
@lowers(CAReduce, Max, Min)
def reduce(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a reduction, computed in the accumulator's type."""
    (value,) = inputs
    kind = REDUCTIONS.get(type(node.op.scalar_op))
    if kind is None:
        raise CannotLower(f"the reduction {node.op}")
    out_dtype = node.outputs[0].type.dtype
    working = getattr(node.op, "acc_dtype", None) or out_dtype
    if {value.dtype, working, out_dtype} - set(DTYPES):
        raise CannotLower(f"a reduction in {working}")
    axes = node.op.axis
    axes = tuple(range(value.ndim)) if axes is None else tuple(axis % value.ndim for axis in axes)
    if kind in ("maximum", "minimum"):
        for axis in axes:
            step.sizes.check(
                compared(value.shape[axis], ">", 0), "a maximum of at least one element"
            )
    if isinstance(value, Scalar):
        return [cast(step, cast(step, value, working), out_dtype)]
    if isinstance(value, IndexVector) and axes and type(node.op.scalar_op) in _ON_NUMBERS:
        items = [cast(step, item, working) for item in value.items]
        return [cast(step, _total(step, node.op.scalar_op, items), out_dtype)]
    return [reduced(step, step.view(value), axes, kind, working, out_dtype)]


# reductions of short vectors that are done on their numbers; the rest has no two-operand form
_ON_NUMBERS = {Add: 0, Mul: 1}


def _total(step: Step, op, items: list[Value]) -> Value:
    dtype = items[0].dtype if items else "int64"
    if dtype == "bool" or not items:
        return step.constant(_ON_NUMBERS[type(op)], dtype)
    total, *rest = items
    for item in rest:
        total = step.apply(expression_of(op, [dtype, dtype], dtype), [total, item])
    return total


def reduced(
    step: Step, view: View, axes: tuple[int, ...], kind: str, working: str, dtype: str
) -> Value:
    """Return the reduction of a view over axes, which are dropped."""
    shape = tuple(size for d, size in enumerate(view.shape) if d not in axes)
    if not shape:
        result = step.number(dtype)
        step.append(Reduce(kind, view, axes, result, working))
        return result
    out = step.temporary(dtype, shape)
    step.append(Reduce(kind, view, axes, View.of(out), working), out)
    return View.of(out)


@lowers(Argmax)
def argmax(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return where the largest element is among those that are reduced; the first NaN is larger."""
    (value,) = inputs
    if isinstance(value, Scalar):
        return [step.constant(0, "int64")]
    view = step.view(value)
    given = range(view.ndim) if node.op.axis is None else node.op.axis
    axes = sorted(axis % view.ndim for axis in given)
    kept = [d for d in range(view.ndim) if d not in axes]
    for axis in axes:
        step.sizes.check(compared(view.shape[axis], ">", 0), "an argmax of at least one element")
    rows = turned(view, [*kept, *axes])
    if len(axes) != 1:
        count = step.sizes.product(view.shape[d] for d in axes)
        joined = step.reshaped(rows, (*rows.shape[: len(kept)], count))
        rows = step.view(joined)
    result = largest_of_rows(step, rows)
    return [result if kept else step.load(result)]


@lowers(Softmax)
def softmax(step: Step, node, inputs: list[Value]) -> list[Value]:
    exponentials = _exponentials(step, inputs[0], _axes(node.op, inputs[0]))
    return [_apply(step, ps.true_div, [exponentials.weights, exponentials.total])]


@lowers(LogSoftmax)
def log_softmax(step: Step, node, inputs: list[Value]) -> list[Value]:
    exponentials = _exponentials(step, inputs[0], _axes(node.op, inputs[0]))
    logarithm = _apply(step, ps.log, [exponentials.total])
    return [_apply(step, ps.sub, [exponentials.centred, logarithm])]


@dataclass(frozen=True)
class _Exponentials:
    """Elements less the largest of them, the exponentials of these, and their sum."""

    centred: Value
    weights: Value
    total: Value


def _exponentials(step: Step, value: Value, axes: tuple[int, ...]) -> _Exponentials:
    """Return the exponentials along axes: a logarithm and its gradient need the same."""

    def made() -> _Exponentials:
        view = step.view(value)
        centred = _centred(step, view, axes)
        weights = _apply(step, ps.exp, [centred])
        total = reduced(step, step.view(weights), axes, "add", view.dtype, view.dtype)
        return _Exponentials(centred, weights, _kept(total, axes, view))

    return step.made_once((_exponentials, axes), value, made)


def _axes(op, value: Value) -> tuple[int, ...]:
    axis = op.axis
    if axis is None:
        return tuple(range(value.ndim))
    return tuple(a % value.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))


def _centred(step: Step, view: View, axes: tuple[int, ...]) -> Value:
    for axis in axes:
        step.sizes.check(compared(view.shape[axis], ">", 0), "a softmax of at least one element")
    largest = _kept(reduced(step, view, axes, "maximum", view.dtype, view.dtype), axes, view)
    return _apply(step, ps.sub, [view, largest])


def _apply(step: Step, op, operands: list[Value]) -> Value:
    dtypes = [operand.dtype for operand in operands]
    return step.apply(expression_of(op, dtypes, dtypes[0]), operands)


def _kept(value: Value, axes: tuple[int, ...], source: View) -> Value:
    """Return the reduced value with its dropped axes as dimensions of size 1."""
    if isinstance(value, Scalar):
        return value
    assert isinstance(value, View)
    kept = iter(range(value.ndim))
    order = [None if d in axes else next(kept) for d in range(source.ndim)]
    shape: tuple[Size, ...] = tuple(1 if d is None else value.shape[d] for d in order)
    places = tuple(None if d is None else value.axes[d] for d in order)
    steps = tuple(0 if d is None else value.steps[d] for d in order)
    return View(value.buffer, shape, places, steps, value.start)
