"""Reductions over axes, and softmax."""

from __future__ import annotations

import pytensor.scalar as ps
from pytensor.scalar.basic import AND, OR, Add, Maximum, Minimum, Mul
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.special import LogSoftmax, Softmax

from theano.link.native.ir import CannotLower, Reduce, Scalar, Size, Value, View
from theano.link.native.lowering.registry import lowers
from theano.link.native.scalar_expressions import expression_of
from theano.link.native.scalar_types import C_TYPES
from theano.link.native.step import Step

# scalar operation -> what the emitter calls it
REDUCTIONS = {Add: "add", Mul: "multiply", Maximum: "maximum", Minimum: "minimum"}
REDUCTIONS |= {AND: "and", OR: "or"}


@lowers(CAReduce)
def reduce(step: Step, node, inputs: list[Value]) -> list[Value]:
    """A reduction, computed in the accumulator's type."""
    (value,) = inputs
    kind = REDUCTIONS.get(type(node.op.scalar_op))
    if kind is None:
        raise CannotLower(f"the reduction {node.op}")
    out_dtype = node.outputs[0].type.dtype
    working = getattr(node.op, "acc_dtype", None) or out_dtype
    if {value.dtype, working, out_dtype} - set(C_TYPES):
        raise CannotLower(f"a reduction in {working}")
    axes = node.op.axis
    axes = tuple(range(value.ndim)) if axes is None else tuple(axis % value.ndim for axis in axes)
    if kind in ("maximum", "minimum"):
        for axis in axes:
            step.sizes.check(f"{value.shape[axis]} > 0", "a maximum of at least one element")
    if isinstance(value, Scalar):
        return [value]
    return [reduced(step, step.view(value), axes, kind, working, out_dtype)]


def reduced(
    step: Step, view: View, axes: tuple[int, ...], kind: str, working: str, dtype: str
) -> Value:
    """The reduction of a view over axes, which are dropped."""
    shape = tuple(size for d, size in enumerate(view.shape) if d not in axes)
    if not shape:
        result = step.number(dtype)
        step.append(Reduce(kind, view, axes, result, working))
        return result
    out = step.temporary(dtype, shape)
    step.append(Reduce(kind, view, axes, View.of(out), working), out)
    return View.of(out)


@lowers(Softmax)
def softmax(step: Step, node, inputs: list[Value]) -> list[Value]:
    view, axes = step.view(inputs[0]), _axes(node.op, inputs[0])
    weights = _apply(step, ps.exp, [_centred(step, view, axes)])
    total = _kept(
        reduced(step, step.view(weights), axes, "add", view.dtype, view.dtype), axes, view
    )
    return [_apply(step, ps.true_div, [weights, total])]


@lowers(LogSoftmax)
def log_softmax(step: Step, node, inputs: list[Value]) -> list[Value]:
    view, axes = step.view(inputs[0]), _axes(node.op, inputs[0])
    centred = _centred(step, view, axes)
    weights = _apply(step, ps.exp, [centred])
    total = _kept(
        reduced(step, step.view(weights), axes, "add", view.dtype, view.dtype), axes, view
    )
    logarithm = _apply(step, ps.log, [total])
    return [_apply(step, ps.sub, [centred, logarithm])]


def _axes(op, value: Value) -> tuple[int, ...]:
    axis = op.axis
    if axis is None:
        return tuple(range(value.ndim))
    return tuple(a % value.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))


def _centred(step: Step, view: View, axes: tuple[int, ...]) -> Value:
    for axis in axes:
        step.sizes.check(f"{view.shape[axis]} > 0", "a softmax of at least one element")
    largest = _kept(reduced(step, view, axes, "maximum", view.dtype, view.dtype), axes, view)
    return _apply(step, ps.sub, [view, largest])


def _apply(step: Step, op, operands: list[Value]) -> Value:
    dtypes = [operand.dtype for operand in operands]
    return step.apply(expression_of(op, dtypes, dtypes[0]), operands, dtypes)


def _kept(value: Value, axes: tuple[int, ...], source: View) -> Value:
    """The reduced value with its dropped axes as dimensions of size 1."""
    if isinstance(value, Scalar):
        return value
    assert isinstance(value, View)
    kept = iter(range(value.ndim))
    order = [None if d in axes else next(kept) for d in range(source.ndim)]
    shape: tuple[Size, ...] = tuple(1 if d is None else value.shape[d] for d in order)
    places = tuple(None if d is None else value.axes[d] for d in order)
    steps = tuple(0 if d is None else value.steps[d] for d in order)
    return View(value.buffer, shape, places, steps, value.start)
