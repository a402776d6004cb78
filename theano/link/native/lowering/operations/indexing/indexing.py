"""Basic indexing, rows taken by an index, and updates of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.scalar import add
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.link.native.ir.ir import CannotLower, IndexVector, Scalar, Size, Splat, Value, View
from theano.link.native.ir.scalar_expressions import Expression, expression_of
from theano.link.native.ir.sizes import CLIP, SLICE_LENGTH, Sizes
from theano.link.native.ir.symbolic import (
    Call,
    Choice,
    Name,
    Negative,
    Symbolic,
    both,
    compared,
    difference,
    sum_of,
)
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing.windows import window
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.numbers import Assign
from theano.link.native.statements.rows_by_index import Gather, Scatter
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1, AdvancedSubtensor1
from theano.support.data_classes import dataclass

# No array has more than 2**48 bytes: a stride of one times this fits 64 bits.
LARGEST_STEP = 2**14


@dataclass(frozen=True)
class _Range:
    start: Size | Scalar
    length: Size
    step: int


@lowers(Subtensor)
def subtensor(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a part of an array: a view of the same memory."""
    value, *indices = inputs
    if isinstance(value, IndexVector):
        gathered = _gathered(node.op.idx_list, value, indices)
        if gathered is not None:
            return [gathered]
    if isinstance(value, Splat):
        part = _part(step, value.shape, node.op.idx_list, indices)
        shape = tuple(entry.length for entry in part if isinstance(entry, _Range))
        return [Splat(value.scalar, shape) if shape else value.scalar]
    result = indexed(step, step.view(value), node.op.idx_list, indices)
    return [result if result.ndim else step.load(result)]


def _gathered(idx_list, value: IndexVector, indices: list[Value]) -> Value | None:
    """Return an item of a short vector by constant bounds, or None."""
    positions = _positions(idx_list, len(value.items), indices)
    if positions is None:
        return None
    if isinstance(positions, int):
        return value.items[positions]
    return IndexVector(tuple(value.items[k] for k in positions), value.dtype)


def _positions(idx_list, count: int, indices: list[Value]) -> range | int | None:
    """Return what constant bounds name in a vector of this length; None if they are not constant."""
    constants: list[int] = []
    for index in indices:
        if not isinstance(index, Scalar) or index.literal is None:
            return None
        constants.append(int(index.literal))
    if not idx_list:
        return range(count)
    (entry,) = idx_list
    if isinstance(entry, slice):
        bounds = [
            None if k is None else constants[k] for k in (entry.start, entry.stop, entry.step)
        ]
        return range(count)[slice(*bounds)]
    position = constants[entry]
    if not -count <= position < count:
        raise CannotLower("an index out of range")
    return position % count


def indexed(step: Step, view: View, idx_list, indices: list[Value]) -> View:
    """Return the part of a view that basic indices name."""
    shape, axes, steps, start = [], [], [], list(view.start)
    for d, entry in enumerate(_part(step, view.shape, idx_list, indices)):
        axis = view.axes[d]
        begin = entry.start if isinstance(entry, _Range) else entry
        if axis is not None:
            start[axis] = _moved(step, start[axis], view.steps[d], begin)
        if isinstance(entry, _Range):
            shape.append(entry.length)
            axes.append(axis)
            steps.append(view.steps[d] * entry.step)
            if abs(steps[-1]) > LARGEST_STEP:
                raise CannotLower(f"slices of slices whose steps are over {LARGEST_STEP} together")
    return View(view.buffer, tuple(shape), tuple(axes), tuple(steps), tuple(start))


def _moved(step: Step, start: Size, stride: int, by: Size | Scalar) -> Size:
    if by == 0:
        return start
    if not isinstance(by, Scalar) and not step.sizes.knows(start):
        by = step.of_size(by)
    if not isinstance(by, Scalar):
        return step.sizes.binary(start, "+", step.sizes.binary(by, "*", stride))
    if start == 0 and stride == 1:
        return Name(by.expression)
    moved = step.number("int64")
    operands = [Scalar(str(number), "int64") for number in (start, stride)]
    along = Expression("along", "along", None, "int64")
    step.append(Assign(moved, along, [*operands, by]))
    return Name(moved.expression)


def _part(step: Step, shape, idx_list, indices: list[Value]) -> list[_Range | Size | Scalar]:
    entries: list[_Range | Size | Scalar] = []
    for d, size in enumerate(shape):
        entry = idx_list[d] if d < len(idx_list) else slice(None)
        if isinstance(entry, slice):
            entries.append(_range(step, entry, indices, size))
        else:
            entries.append(_index(step, indices[entry], size))
    return entries


def _index(step: Step, index: Value, size: Size) -> Size | Scalar:
    """Return an index from the front; one that differs between steps is checked in each."""
    if not isinstance(index, Scalar):
        raise CannotLower("an index that is an array")
    if index.invariant:
        position = step.size(index, "an index")
        in_range = both(compared(position, "<", size), compared(position, ">=", Negative(size)))
        step.sizes.check(in_range, "index out of range")
        if isinstance(position, int):
            return position if position >= 0 else step.sizes.binary(size, "+", position)
        from_the_end = compared(position, "<", 0)
        return step.sizes.name(Choice(from_the_end, sum_of(position, size), position))
    return step.checked_index(index, size)


def _range(step: Step, entry: slice, indices: list[Value], size: Size) -> _Range:
    stride = 1 if entry.step is None else _stride(step, indices[entry.step])
    size = step.sizes.find(size)
    first, last = (None if k is None else indices[k] for k in (entry.start, entry.stop))
    given = (first, last)
    if stride == 1 and any(isinstance(b, Scalar) and step.settled(b) is None for b in given):
        start, length = window(step, first, last, size)
        return _Range(start, length, 1)
    bounds = [None if b is None else step.size(b, "a bound of a slice") for b in given]
    to_the_end = bounds[1] is None or step.sizes.find(bounds[1]) == size
    if stride == 1 and bounds[0] in (None, 0) and to_the_end:
        return _Range(0, size, 1)
    part = _long_enough(step.sizes, bounds, stride, size)
    if part is not None:
        return part
    if isinstance(size, int) and all(b is None or isinstance(b, int) for b in bounds):
        known = range(*slice(bounds[0], bounds[1], stride).indices(size))  # type: ignore
        return _Range(known.start if known else 0, len(known), stride)
    low, high = (0, size) if stride > 0 else (-1, difference(size, 1))
    begin = low if stride > 0 else high
    end = high if stride > 0 else low
    start_name, stop_name = (
        default if bound is None else step.sizes.name(Call(CLIP, (bound, size, low, high)))
        for bound, default in zip(bounds, (begin, end), strict=True)
    )
    start_name = step.sizes.name(start_name)
    length = step.sizes.name(Call(SLICE_LENGTH, (start_name, stop_name, stride)))
    return _Range(start_name, length, stride)


def _long_enough(
    sizes: Sizes, bounds: Sequence[Size | None], stride: int, size: Size
) -> _Range | None:
    """All elements but so many at either end, of which there are known to be as many."""
    if isinstance(size, int) or any(isinstance(bound, Symbolic) for bound in bounds):
        return None
    first, end = (bound if isinstance(bound, int) else None for bound in bounds)
    if stride == 1 and (first is None or first >= 0) and (end is None or end < 0):
        front, back = first or 0, -(end or 0)
    elif stride == -1 and (first is None or first < 0) and (end is None or end >= 0):
        front, back = 0 if end is None else end + 1, 0 if first is None else -1 - first
    else:
        return None
    if not sizes.at_least(size, front + back):
        return None
    start = front if stride == 1 else sizes.binary(size, "-", 1 + back)
    return _Range(start, sizes.binary(size, "-", front + back), stride)


def _stride(step: Step, given: Value) -> int:
    stride = step.size(given, "a step of a slice")
    if not isinstance(stride, int) or stride == 0:
        raise CannotLower("a slice whose step is not constant")
    if abs(stride) > LARGEST_STEP:
        raise CannotLower(f"a slice whose step is over {LARGEST_STEP}")
    return stride


@lowers(IncSubtensor)
def inc_subtensor(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a copy of an array, a part of which is set or increased."""
    value, update, *indices = inputs
    if isinstance(value, IndexVector):
        numbers = _updated(step, node, value, cast(step, update, value.dtype), indices)
        if numbers is not None:
            return [numbers]
    buffer = step.copied(value)
    target = indexed(step, View.of(buffer), node.op.idx_list, indices)
    update = cast(step, update, value.dtype)
    source = aligned(step, update, node.inputs[1], target)
    if node.op.set_instead_of_inc:
        step.append(Copy(target, source), buffer)
    else:
        operation = "or" if value.dtype == "bool" else "add"
        step.append(Combine(target, source, operation), buffer)
    return [View.of(buffer)]


def _updated(step: Step, node, value: IndexVector, update: Value, indices: list[Value]):
    """Return a short vector with other numbers at constant positions, or None."""
    named = _positions(node.op.idx_list, len(value.items), indices)
    if named is None or isinstance(update, View):
        return None
    positions = [named] if isinstance(named, int) else list(named)
    items: list[Any] = list(value.items)
    given: list[Any] = list(update.items) if isinstance(update, IndexVector) else [_number(update)]
    if len(given) == 1:
        given *= len(positions)
    if len(given) != len(positions):
        raise CannotLower("an update of another length")
    for k, item in zip(positions, given, strict=True):
        if not node.op.set_instead_of_inc:
            dtypes = [value.dtype, value.dtype]
            plus = expression_of(add, dtypes, value.dtype)
            item = step.apply(plus, [items[k], item])
        items[k] = item
    return IndexVector(tuple(items), value.dtype)


def _number(value: Value) -> Scalar:
    assert isinstance(value, Scalar | Splat)
    return value.scalar if isinstance(value, Splat) else value


def aligned(step: Step, update: Value, variable, target: View) -> View | Scalar:
    """Return the update as an operand of the target's shape."""
    flags = variable.type.broadcastable
    if isinstance(update, Scalar):
        return update
    for d in range(1, update.ndim + 1):
        if not flags[-d]:
            step.sizes.equal(update.shape[-d], target.shape[-d], "sizes of an update")
    if isinstance(update, Splat):
        return update.scalar
    view = step.view(update)
    lead = target.ndim - view.ndim
    axes = (None,) * lead + tuple(
        None if flag else axis for flag, axis in zip(flags, view.axes, strict=True)
    )
    return View(view.buffer, target.shape, axes, (0,) * lead + view.steps, view.start)


@lowers(AdvancedSubtensor1)
def take(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Rows named by a vector of indices."""
    source, index = step.view(inputs[0]), step.view(inputs[1])
    out = step.temporary(source.dtype, (index.shape[0], *source.shape[1:]))
    step.append(Gather(View.of(out), source, index), out)
    return [View.of(out)]


@lowers(AdvancedIncSubtensor1)
def add_to_rows(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return a copy of an array, rows of which are set or increased."""
    value, update, index = inputs
    update = cast(step, update, value.dtype)
    rows = step.view(index)
    buffer = step.copied(value)
    shape = (rows.shape[0], *buffer.shape[1:])
    like = View(buffer, shape, tuple(range(len(shape))), (1,) * len(shape), (0,) * len(shape))
    source = aligned(step, update, node.inputs[1], like)
    add = not node.op.set_instead_of_inc
    step.append(Scatter(View.of(buffer), source, rows, add), buffer)
    return [View.of(buffer)]
