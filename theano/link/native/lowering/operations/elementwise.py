"""Element-wise operations, casts and constants of arrays."""

from __future__ import annotations

import numpy as np
from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import Cast, Composite, Mod, Pow, ScalarOp, get_scalar_type
from pytensor.scalar.math import Ive
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CpuContiguous

from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Splat, Value, View
from theano.link.native.ir.scalar_expressions import (
    Expression,
    expression_of,
    power_of,
    remainder_by,
)
from theano.link.native.ir.scalar_types import FLOATS, has_c_type
from theano.link.native.lowering.operations.scalar_loops import computed_in_loops
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.reduce import Reduce
from theano.pytensor_internals.functions.compiling import TypeCastingOp
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.scalar import ScalarLoop


@lowers(Elemwise)
def elementwise(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Each scalar operation becomes one computation of a map over the result's shape."""
    ndim = node.outputs[0].type.ndim
    if not ndim:
        return apply_scalar_op(step, node.op.scalar_op, inputs, node, None)
    items = _items(inputs)
    if items is not None:
        rows = [apply_scalar_op(step, node.op.scalar_op, row, node, None) for row in items]
        return [
            IndexVector(tuple(row[k] for row in rows), output.type.dtype)  # type: ignore[misc]
            for k, output in enumerate(node.outputs)
        ]
    inputs = [_one_number_everywhere(value) for value in inputs]
    flags = [variable.type.broadcastable for variable in node.inputs]
    shape = step.broadcast_shape(inputs, flags)
    results = apply_scalar_op(step, node.op.scalar_op, inputs, node, flags)
    return [_of_shape(step, result, shape) for result in results]


def _one_number_everywhere(value: Value) -> Value:
    """Return a vector of one integer, such as the 0 of ``x > 0``, as a number that needs no memory."""
    if isinstance(value, IndexVector) and len(value.items) == 1:
        return Splat(value.items[0], (1,))
    return value


def _items(inputs: list[Value]) -> list[list[Value]] | None:
    """Return the operands of each item of short vectors, or None if they are not all of that kind."""
    if not any(isinstance(value, IndexVector) for value in inputs):
        return None
    count = max(len(x.items) for x in inputs if isinstance(x, IndexVector))
    for value in inputs:
        fits = isinstance(value, IndexVector) or (isinstance(value, Splat) and value.ndim == 1)
        if not fits or value.shape[0] not in (1, count):
            return None
    return [
        [
            x.items[k if len(x.items) == count else 0] if isinstance(x, IndexVector) else x.scalar  # type: ignore[union-attr]
            for x in inputs
        ]
        for k in range(count)
    ]


@lowers(ScalarOp)
def on_numbers(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a scalar operation outside of Elemwise."""
    return apply_scalar_op(step, node.op, inputs, node, None)


def apply_scalar_op(step: Step, op, inputs: list[Value], node, flags) -> list[Value]:
    """Apply a scalar operation, or all that a Composite consists of."""
    if is_a(op, ScalarLoop):
        return computed_in_loops(step, op, inputs, flags)
    if not is_a(op, Composite):
        dtypes = [variable.type.dtype for variable in node.inputs]
        output = node.outputs[0].type.dtype
        if isinstance(op, Ive) and _are_whole(node.inputs[0]):
            dtypes[0] = "int64"
        expression = expression_of(op, dtypes, output)
        if isinstance(op, Pow) and output not in FLOATS:
            _check_exponent(step, inputs[1])
        elif isinstance(op, Pow | Mod):
            second = inputs[1].scalar if isinstance(inputs[1], Splat) else inputs[1]
            if isinstance(second, Scalar) and second.literal is not None:
                by_a_number = power_of if isinstance(op, Pow) else remainder_by
                expression = by_a_number(expression, second.literal)
        return [step.apply(expression, inputs, flags)]
    values: dict = dict(zip(op.fgraph.inputs, inputs, strict=True))
    for inner in op.fgraph.toposort():
        operands = []
        for variable in inner.inputs:
            if is_a(variable, Constant):
                values[variable] = step.constant(variable.data, variable.type.dtype)
            operands.append(values[variable])
        values.update(
            zip(inner.outputs, apply_scalar_op(step, inner.op, operands, inner, None), strict=True)
        )
    return [
        step.constant(output.data, output.type.dtype) if is_a(output, Constant) else values[output]
        for output in op.fgraph.outputs
    ]


def _are_whole(orders: Variable) -> bool:
    """Return whether all numbers of a constant are whole, whatever its type."""
    return is_a(orders, Constant) and bool((np.trunc(orders.data) == orders.data).all())


_NOT_NEGATIVE = Expression("not negative", "is not negative", None, "bool")


def _check_exponent(step: Step, exponent: Value) -> None:
    """NumPy has no negative powers of integers."""
    if exponent.dtype == "bool" or exponent.dtype.startswith("u"):
        return
    if isinstance(exponent, Splat):
        exponent = exponent.scalar
    if isinstance(exponent, Scalar):
        least = exponent
        if exponent.literal is not None and exponent.literal >= 0:
            return
    else:
        view = step.view(exponent)
        least = step.number(view.dtype)
        axes = tuple(range(view.ndim))
        step.append(Reduce("minimum", view, axes, least, view.dtype))
    text = "Integers to negative integer powers are not allowed."
    step.check(_NOT_NEGATIVE, [least], ValueError, text)


def _of_shape(step: Step, value: Value, shape) -> Value:
    if isinstance(value, Scalar):
        return Splat(value, shape)
    if tuple(map(step.sizes.find, value.shape)) == shape:
        return value
    if isinstance(value, Splat):
        return Splat(value.scalar, shape)
    return step.stretched(step.view(value), shape)


@lowers(ScalarFromTensor, TensorFromScalar)
def same_number(step: Step, node, inputs: list[Value]) -> list[Value]:
    return inputs


@lowers(DeepCopyOp, CpuContiguous)
def copy(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the value itself: what is written in place is written after all reads."""
    return inputs


@lowers(TypeCastingOp)
def view(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the value itself, of which the result's type may say more dimensions to be of size 1."""
    known = getattr(node.inputs[0].type, "broadcastable", ())
    declared = getattr(node.outputs[0].type, "broadcastable", ())
    for d, (was_one, is_one) in enumerate(zip(known, declared, strict=True)):
        if is_one and not was_one:
            step.sizes.equal(inputs[0].shape[d], 1, f"dimension {d} is of size 1")
    return inputs


@lowers(DimShuffle)
def reorder_dimensions(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Another order of the axes of the same memory."""
    (value,) = inputs
    order = node.op.new_order
    if isinstance(value, IndexVector) and len(value.items) == 1:
        value = Splat(value.items[0], (1,))
    for d in range(value.ndim):
        if d not in order:
            step.sizes.equal(value.shape[d], 1, f"the dropped dimension {d} is of size 1")
    shape = tuple(1 if d == "x" else value.shape[d] for d in order)
    if isinstance(value, Scalar):
        return [Splat(value, shape)]
    if isinstance(value, Splat):
        return [Splat(value.scalar, shape) if shape else value.scalar]
    view = step.view(value)
    axes = tuple(None if d == "x" else view.axes[d] for d in order)
    steps = tuple(0 if d == "x" else view.steps[d] for d in order)
    result = View(view.buffer, shape, axes, steps, view.start)
    return [result if shape else step.load(result)]


def constant_value(step: Step, variable: Constant) -> Value:
    """Return the value of a constant: in memory only where numbers do not do."""
    if getattr(variable.type, "dtype", None) is None:
        # None among the sizes of SpecifyShape, or a slice
        return Scalar("0", "int64", invariant=True)
    if not has_c_type(variable.type):
        raise CannotLower(f"a constant of type {variable.type}")
    data = np.asarray(variable.data)
    dtype = variable.type.dtype
    if data.ndim == 0:
        return step.constant(data, dtype)
    if data.ndim == 1 and data.size <= 8 and data.dtype.kind in "iu":
        return IndexVector(tuple(step.constant(number, dtype) for number in data), dtype)
    if data.size and _is_one_number(data):
        return Splat(step.constant(data.flat[0], dtype), data.shape)
    return step.constant_array(data)


def _is_one_number(data: np.ndarray) -> bool:
    """Return whether all elements are the same, zeros with their signs."""
    same = (data == data.flat[0]).all()
    return bool(same and (data.flat[0] != 0 or not np.signbit(data).any()))


def cast(step: Step, value: Value, dtype: str) -> Value:
    """Return the value in another type."""
    if value.dtype == dtype:
        return value
    if isinstance(value, IndexVector):
        items = tuple(cast(step, item, dtype) for item in value.items)
        return IndexVector(items, dtype)  # type: ignore[arg-type]
    expression = expression_of(Cast(get_scalar_type(dtype)), [value.dtype], dtype)
    return step.apply(expression, [value])
