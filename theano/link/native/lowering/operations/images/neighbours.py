"""The windows of images as rows of a matrix, and back."""

from __future__ import annotations

from pytensor.graph.basic import Apply

from theano.link.native.ir.ir import CannotLower, Size, Value, View
from theano.link.native.ir.scalar_types import DTYPES
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
from theano.link.native.statements.images.neighbours import Neighbours
from theano.link.native.statements.images.tasks import Along
from theano.tensor.nnet.neighbours_operators import BORDERS, Images2Neibs, Images2NeibsGrad


@lowers(Images2Neibs)
def windows_as_rows(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a row for each window of each image."""
    images = _images(step, node, inputs[0])
    along = _windows(step, node.op.mode, images, inputs[1:])
    shape = (*images.shape[:2], *(one.count for one in along), *(one.size for one in along))
    rows = step.temporary(images.dtype, shape)
    count = step.sizes.product(images.shape[:2])
    wraps = node.op.wraps
    step.append(Neighbours(images, View.of(rows), along, count, False, wraps), rows)
    matrix = (step.sizes.product(shape[:4]), step.sizes.product(shape[4:]))
    return [step.reshaped(View.of(rows), matrix)]


@lowers(Images2NeibsGrad)
def rows_added_to_windows(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Images of zeros, to whose windows rows are added."""
    images = _images(step, node, inputs[0])
    along = _windows(step, node.op.mode, images, inputs[2:])
    shape = (*images.shape[:2], *(one.count for one in along), *(one.size for one in along))
    given = cast(step, inputs[1], images.dtype)
    for size, part in zip(given.shape, (shape[:4], shape[4:]), strict=True):
        step.sizes.equal(size, step.sizes.product(part), "the shape of rows for windows")
    rows = step.view(step.reshaped(given, shape))
    out = step.temporary(images.dtype, images.shape)
    count = step.sizes.product(images.shape[:2])
    step.append(Neighbours(View.of(out), rows, along, count, True, node.op.wraps), out)
    return [View.of(out)]


def _images(step: Step, node: Apply, value: Value) -> View:
    dtype = node.outputs[0].type.dtype
    if dtype not in DTYPES or dtype == "bool":
        raise CannotLower(f"windows of images of {dtype}")
    return step.view(value)


def _windows(step: Step, mode: str, images: View, vectors: list[Value]) -> list[Along]:
    sizes, steps = (
        [step.size(item, what) for item in numbers_of(step, vector, 2, what)]
        for vector, what in zip(
            vectors, ("the shape of windows", "the distance of windows"), strict=True
        )
    )
    return [
        _along(step, mode, length, size, apart)
        for length, size, apart in zip(images.shape[2:], sizes, steps, strict=True)
    ]


def _along(step: Step, mode: str, length: Size, size: Size, apart: Size) -> Along:
    kind = BORDERS[mode]
    require(step, size, ">", 0, "windows of a positive size")
    require(step, apart, ">", 0, "windows of a positive distance")
    for number in (length, size, apart):
        require(step, number, "<", MOST, "windows that are not too large")
    if mode != "ignore_borders":
        require(step, length, ">=", size, "windows that are not larger than the image")
    around = _around(mode, size)
    if kind.wraps:
        odd = difference(size, sum_of(around, around))
        require(step, odd, "==", 1, "windows of odd size")
    left = difference(sum_of(length, sum_of(around, around)), size)
    if kind.exact:
        whole = product_of(steps_in(left, apart, 0), apart)
        require(step, difference(left, whole), "==", 0, "windows that end where the image does")
    count = chosen(left, "<", 0, 0, steps_in(left, apart, 1))
    return Along(length, size, apart, step.sizes.name(around), step.sizes.name(count))


def _around(mode: str, size: Size) -> Size:
    """Return how many elements are put on each side of the image."""
    if isinstance(size, int):
        return BORDERS[mode].around(size)
    if mode == "full":
        return difference(size, 1)
    return steps_in(size, 2, 0) if mode in ("half", "wrap_centered") else 0
