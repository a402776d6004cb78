"""Pooling over windows of images, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply

from theano.link.native.ir.ir import CannotLower, Size, Value, View
from theano.link.native.ir.scalar_types import DTYPES, FLOATS
from theano.link.native.ir.symbolic import difference, product_of, sum_of
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.images.window_numbers import (
    MOST,
    chosen,
    require,
    steps_in,
)
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.images.pooling import Pooling
from theano.link.native.statements.images.tasks import Along, Mean, Task
from theano.tensor.signal.pooling.operators import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    Pool,
)


@lowers(Pool)
def pool(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the greatest element, the sum or the mean of each window."""
    op, (x,) = node.op, _arrays(step, node, inputs, 1)
    if op.mode.startswith("average") and x.dtype not in FLOATS:
        raise CannotLower("a mean of integers over windows")
    along = _windows(step, op, x, inputs[1:])
    shape = (*x.shape[: x.ndim - op.ndim], *(one.count for one in along))
    return [_computed(step, op, Task.POOL, shape, [x], along)]


@lowers(MaxPoolGrad)
def to_greatest(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the gradient of greatest elements."""
    op, (x, best, given) = node.op, _arrays(step, node, inputs, 3)
    along = _windows(step, op, x, inputs[3:])
    for view, what in ((best, "greatest elements"), (given, "gradients of windows")):
        _same_shape(step, view, (*x.shape[: -op.ndim], *(one.count for one in along)), what)
    return [_computed(step, op, Task.TO_GREATEST, x.shape, [x, best, given], along)]


@lowers(AveragePoolGrad)
def to_all(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the gradient of sums and means."""
    op, (x, given) = node.op, _arrays(step, node, inputs, 2)
    if op.mode != "sum" and x.dtype not in FLOATS:
        raise CannotLower("the gradient of a mean of integers over windows")
    along = _windows(step, op, x, inputs[2:])
    counts = (*x.shape[: -op.ndim], *(one.count for one in along))
    _same_shape(step, given, counts, "gradients of windows")
    return [_computed(step, op, Task.TO_ALL, x.shape, [given], along)]


@lowers(DownsampleFactorMaxGradGrad)
def of_greatest(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the sum of values at greatest elements."""
    op, (x, best, values) = node.op, _arrays(step, node, inputs, 3)
    along = _windows(step, op, x, inputs[3:])
    counts = (*x.shape[: -op.ndim], *(one.count for one in along))
    _same_shape(step, best, counts, "greatest elements")
    _same_shape(step, values, x.shape, "values next to images")
    return [_computed(step, op, Task.OF_GREATEST, counts, [x, best, values], along)]


def _arrays(step: Step, node: Apply, inputs: Sequence[Value], count: int) -> list[View]:
    dtype = node.outputs[0].type.dtype
    if dtype not in DTYPES or dtype == "bool":
        raise CannotLower(f"windows of {dtype}")
    if any(variable.type.dtype != dtype for variable in node.inputs[:count]):
        return [step.view(cast(step, value, dtype)) for value in inputs[:count]]
    return [step.view(value) for value in inputs[:count]]


def _same_shape(step: Step, view: View, shape: Sequence[Size], what: str) -> None:
    for size, expected in zip(view.shape, shape, strict=True):
        step.sizes.equal(size, expected, f"the shape of {what}")


def _computed(
    step: Step, op: Any, task: Task, shape: Sequence[Size], reads: list[View], along: list[Along]
) -> View:
    out = step.temporary(reads[0].dtype, tuple(shape))
    mean = None
    if op.mode.startswith("average"):
        with_border = op.mode == "average_inc_pad"
        whole = op.ignore_border and (with_border or all(one.pad == 0 for one in along))
        mean = Mean(with_border, whole)
    images = step.sizes.product(shape[: len(shape) - op.ndim])
    statement = Pooling(task, View.of(out), reads, along, images, op.mode == "max", mean)
    step.append(statement, out)
    return View.of(out)


def _windows(step: Step, op: Any, x: View, vectors: Sequence[Value]) -> list[Along]:
    """Return the windows along each of the last dimensions, after what an operator checks."""
    names = ("the shape of windows", "the distance of windows", "what is put around images")
    numbers = [
        [step.size(item, what) for item in numbers_of(step, vector, op.ndim, what)]
        for vector, what in zip(vectors, names, strict=True)
    ]
    lengths = x.shape[x.ndim - op.ndim :]
    options = op.ignore_border, op.windows_may_be_empty
    return [
        _along(step, length, (size, apart, pad), *options)
        for length, size, apart, pad in zip(lengths, *numbers, strict=True)
    ]


def _along(
    step: Step,
    length: Size,
    window: tuple[Size, Size, Size],
    ignore_border: bool,
    may_be_empty: bool,
) -> Along:
    size, apart, pad = window
    require(step, size, ">", 0, "windows of a positive size")
    require(step, apart, ">", 0, "windows of a positive distance")
    require(step, pad, ">=", 0, "what is put around, which is not negative")
    if not may_be_empty:
        require(step, pad, "<", size, "less put around than a window has")
    for number in (length, size, apart, pad):
        require(step, number, "<", MOST, "windows that are not too large")
    if not ignore_border:
        require(step, pad, "==", 0, "nothing put around where the border is not ignored")
        require(step, length, ">", 0, "images with elements")
    padded = sum_of(length, product_of(2, pad))
    if ignore_border:
        after = difference(padded, size)
        count = chosen(after, "<", 0, 0, steps_in(after, apart, 1))
    else:
        # what is left after an element, and after a window and an element
        left, after = difference(padded, 1), difference(padded, sum_of(size, 1))
        overlapping = chosen(after, "<", 0, 1, steps_in(after, apart, 2))
        count = chosen(apart, ">=", size, steps_in(left, apart, 1), overlapping)
    return Along(length, size, apart, pad, step.sizes.name(count))
