"""Products of vectors and matrices."""

from __future__ import annotations

import pytensor.scalar as ps
from pytensor.tensor.math import Dot

from theano.link.native.ir.ir import CannotLower, Scalar, Value, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.batched_products import product_of_stacks
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.reduce import Reduce
from theano.pytensor_internals.operations.tensor import (
    CGemv,
    CGer,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
)


@lowers(Dot, Dot22)
def dot(step: Step, node, inputs: list[Value]) -> list[Value]:
    a, b = inputs
    return [product(step, a, b, node.outputs[0].type.dtype)]


@lowers(Dot22Scalar)
def scaled_dot(step: Step, node, inputs: list[Value]) -> list[Value]:
    a, b, alpha = inputs
    return [_scaled(step, alpha, product(step, a, b, node.outputs[0].type.dtype))]


@lowers(Gemm)
def gemm(step: Step, node, inputs: list[Value]) -> list[Value]:
    """``beta * z + alpha * x @ y``."""
    z, alpha, x, y, beta = inputs
    return [_combined(step, z, beta, alpha, product(step, x, y, node.outputs[0].type.dtype))]


@lowers(Gemv, CGemv)
def gemv(step: Step, node, inputs: list[Value]) -> list[Value]:
    """``beta * y + alpha * a @ x``."""
    y, alpha, a, x, beta = inputs
    return [_combined(step, y, beta, alpha, product(step, a, x, node.outputs[0].type.dtype))]


@lowers(Ger, CGer)
def ger(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return ``a + alpha * outer(x, y)``."""
    a, alpha, x, y = inputs
    column, row = _column(step.view(x)), _row(step.view(y))
    outer = _multiplied(step, column, row)
    return [_added(step, a, _scaled(step, alpha, outer))]


def product(step: Step, a: Value, b: Value, dtype: str) -> Value:
    """Return ``a @ b``; whichever operand is invariant is packed once."""
    if dtype not in FLOATS:
        return product_of_stacks(step, a, b, ((), ()), dtype)
    left, right = (step.view(cast(step, value, dtype)) for value in (a, b))
    step.sizes.equal(left.shape[-1], right.shape[0], "sizes of a product")
    if left.ndim == 1 and right.ndim == 1:
        return _inner(step, left, right)
    if left.ndim == right.ndim == 2 and 1 in (left.shape[1], right.shape[0]):
        # nothing is summed: joined with what is computed from it, as other multiplications
        return _multiplied(step, _column(_vector(left, 0)), _row(_vector(right, 1)))
    if right.ndim == 1:
        # a @ b as the row b @ a.T, so that the matrix is the packed operand
        out = step.temporary(dtype, left.shape[:1])
        step.product(_row(right), transposed(left), _row(View.of(out)))
        return View.of(out)
    if left.ndim == 1:
        out = step.temporary(dtype, right.shape[1:])
        step.product(_row(left), right, _row(View.of(out)))
        return View.of(out)
    if step.packable(left) and not step.packable(right):
        out = step.temporary(dtype, (right.shape[1], left.shape[0]))
        step.product(transposed(right), transposed(left), View.of(out))
        return transposed(View.of(out))
    out = step.temporary(dtype, (left.shape[0], right.shape[1]))
    step.product(left, right, View.of(out))
    return View.of(out)


def transposed(view: View) -> View:
    return View(view.buffer, view.shape[::-1], view.axes[::-1], view.steps[::-1], view.start)


def _row(view: View) -> View:
    return View(view.buffer, (1, *view.shape), (None, *view.axes), (0, *view.steps), view.start)


def _column(view: View) -> View:
    return View(view.buffer, (*view.shape, 1), (*view.axes, None), (*view.steps, 0), view.start)


def _vector(view: View, axis: int) -> View:
    """Return what a matrix of one row or column holds, along the other axis."""
    return View(
        view.buffer, (view.shape[axis],), (view.axes[axis],), (view.steps[axis],), view.start
    )


def _inner(step: Step, a: View, b: View) -> Scalar:
    terms = step.view(_multiplied(step, a, b))
    result = step.number(a.dtype)
    step.append(Reduce("add", terms, (0,), result, a.dtype))
    return result


def _multiplied(step: Step, a: Value, b: Value) -> Value:
    dtypes = [a.dtype, b.dtype]
    return step.apply(expression_of(ps.mul, dtypes, a.dtype), [a, b])


def _added(step: Step, a: Value, b: Value) -> Value:
    dtypes = [a.dtype, b.dtype]
    return step.apply(expression_of(ps.add, dtypes, a.dtype), [a, b])


def _scaled(step: Step, factor: Value, value: Value) -> Value:
    if isinstance(factor, Scalar) and factor.literal is not None and factor.literal == 1:
        return value
    if not isinstance(factor, Scalar):
        raise CannotLower("a product scaled by an array")
    return _multiplied(step, factor, value)


def _combined(step: Step, addend: Value, beta: Value, alpha: Value, value: Value) -> Value:
    if isinstance(beta, Scalar) and beta.literal is not None and beta.literal == 0:
        return _scaled(step, alpha, value)
    return _added(step, _scaled_unless_zero(step, beta, addend), _scaled(step, alpha, value))


def _scaled_unless_zero(step: Step, factor: Value, value: Value) -> Value:
    """As BLAS scales an addend: zero times it is zero, whatever it holds."""
    scaled = _scaled(step, factor, value)
    if isinstance(factor, Scalar) and factor.literal is not None:
        return scaled
    same, dtype = [factor.dtype] * 2, scaled.dtype
    zero = step.constant(0, factor.dtype)
    counts = step.apply(expression_of(ps.neq, same, "bool"), [factor, zero])
    either = ["bool", dtype, dtype]
    choices = [counts, scaled, step.constant(0, dtype)]
    return step.apply(expression_of(ps.switch, either, dtype), choices)
