"""Additions to parts of an array of zeros become stores of these parts.

The gradient of a slice adds to zeros of the size of what was sliced, and the cotangents of gates
are sums of such arrays. Check: each addition is to its own part. Transformation: nothing is
added, only what no part covers is filled with zeros, and what is stored is computed there.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Scalar, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.fuse_maps import is_all_of_its_buffer
from theano.link.native.passes.ranges import Range, in_order, range_of
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.copy import Combine, Copy

# How many statements after the zeros are looked at: long programs have thousands.
DISTANCE = 48


def store_parts(lowered: Loop | Segment) -> None:
    """Store parts that are added to zeros; positions change."""
    step, dependence = lowered.step, Dependence(lowered)
    position = 0
    while position < len(step.statements):
        fill = as_kind(step.statements[position], Copy)
        if fill is not None and _fills_with_zeros(step, position, fill, dependence):
            if _is_added_whole(step, position, fill, dependence):
                continue
            parts = _parts(step, position, fill, dependence)
            array = fill.target.buffer
            ordered = in_order(list(parts.values()), array, step.sizes) if parts else None
            if ordered is not None:
                position += _store(step, position, fill, parts, ordered)
        position += 1


def _fills_with_zeros(step: Step, position: int, fill: Copy, dependence: Dependence) -> bool:
    """Return whether a copy fills memory with zeros that nothing used before."""
    if not isinstance(fill.source, Scalar):
        return False
    number, target = fill.source.literal, fill.target
    if number is None or number != 0 or not is_all_of_its_buffer(target, step.sizes):
        return False
    buffer, memory = target.buffer, dependence.memory(target.buffer)
    if buffer.role != "temporary" or buffer.source or dependence.is_updated(buffer):
        return False
    return not any(
        memory in dependence.writes(one) or memory in dependence.reads(one)
        for one in step.statements[:position]
    )


def _is_added_whole(step: Step, position: int, fill: Copy, dependence: Dependence) -> bool:
    """Store what is first added to all of the zeros; return whether anything is."""
    memory = dependence.memory(fill.target.buffer)
    for statement in step.statements[position + 1 : position + DISTANCE]:
        if memory not in dependence.reads(statement) | dependence.writes(statement):
            continue
        added = as_kind(statement, Combine)
        if added is None or added.operation != "add":
            return False
        source, target = added.source, added.target
        if target.buffer is not fill.target.buffer or not _shows_all(target, step.sizes):
            return False
        if isinstance(source, View) and dependence.memory(source.buffer) == memory:
            return False
        materialized = Copy(target, source)
        step.origins[materialized] = step.origins.pop(added, None)
        step.statements[step.statements.index(added)] = materialized
        step.statements.remove(fill)
        step.origins.pop(fill, None)
        return True
    return False


def _shows_all(view: View, sizes: Sizes) -> bool:
    """Return whether a view shows each element of its buffer once, in any order of each axis."""
    buffer = view.buffer
    return view.axes == tuple(range(len(buffer.shape))) and all(
        sizes.find(a) == sizes.find(b) and abs(along) == 1
        for a, b, along in zip(view.shape, buffer.shape, view.steps, strict=True)
    )


def _parts(step: Step, position: int, fill: Copy, dependence: Dependence) -> dict[Combine, Range]:
    """Return the additions to parts of an array, until something else is done with it."""
    array, memory = fill.target.buffer, dependence.memory(fill.target.buffer)
    found: dict[Combine, Range] = {}
    for statement in step.statements[position + 1 : position + DISTANCE]:
        touched = dependence.reads(statement) | dependence.writes(statement)
        if memory not in touched:
            continue
        added = as_kind(statement, Combine)
        if added is None or added.operation != "add":
            break
        part = _part_of(added, array, step.sizes, dependence)
        if part is None:
            break
        found[added] = part
    return found


def _part_of(
    statement: Combine, array: Buffer, sizes: Sizes, dependence: Dependence
) -> Range | None:
    """Return the part of an array that a statement adds to something of other memory."""
    source, buffer = statement.source, statement.target.buffer
    if isinstance(source, View):
        if dependence.memory(source.buffer) == dependence.memory(array):
            return None
    while buffer is not array:
        # other names of the whole of it
        if buffer.source is None or not is_all_of_its_buffer(buffer.source, sizes):
            return None
        if len(buffer.source.buffer.shape) != len(buffer.shape):
            return None
        buffer = buffer.source.buffer
    return range_of(statement.target, array, sizes)


def _store(
    step: Step, position: int, fill: Copy, parts: dict[Combine, Range], ordered: list[Range]
) -> int:
    """Store parts in place of adding them; return how many statements are more."""
    for statement in parts:
        materialized = Copy(statement.target, statement.source)
        step.origins[materialized] = step.origins.pop(statement, None)
        step.statements[step.statements.index(statement)] = materialized
        _compute_there(step, materialized)
    gaps = _gaps(step, fill.target, ordered)
    origin = step.origins.pop(fill, None)
    fills: list[Statement] = [Copy(gap, fill.source) for gap in gaps]
    step.origins |= dict.fromkeys(fills, origin)
    step.statements[position : position + 1] = fills
    return len(fills) - 1


def _gaps(step: Step, array: View, ordered: list[Range]) -> list[View]:
    """Return what the parts leave over of an array, before the first and after the last."""
    sizes, (first, last) = step.sizes, (ordered[0], ordered[-1])
    axis = first.axis
    end = sizes.end(last.start, last.length)
    assert end is not None
    size = sizes.find(array.shape[axis])
    gaps: list[tuple[Size, Size]] = [(0, first.start)] if first.start != 0 else []
    if sizes.find(end) != size:
        gaps.append((end, sizes.binary(size, "-", end)))
    return [_range(array, axis, start, length) for start, length in gaps]


def _range(array: View, axis: int, start: Size, length: Size) -> View:
    shape, begin = list(array.shape), list(array.start)
    shape[axis], begin[axis] = length, start
    return View(array.buffer, tuple(shape), array.axes, array.steps, tuple(begin))


def _compute_there(step: Step, materialized: Copy) -> None:
    """Have what is stored computed where it goes, if it lies in its own memory until then."""
    source, target, sizes = materialized.source, materialized.target, step.sizes
    if not isinstance(source, View) or not is_all_of_its_buffer(source, sizes):
        return
    buffer = source.buffer
    if (
        buffer.role != "temporary"
        or buffer.place is not None
        or buffer.source is not None
        or buffer.packed
        or buffer.compute is None
        or buffer.dtype != target.dtype
        or any(view.buffer.root() is buffer and view.buffer is not buffer for view in _all(step))
    ):
        return
    position = step.statements.index(materialized)
    later = step.statements[position + 1 :]
    root = target.buffer.root()
    if any(buffer in {v.buffer for v in one.views()} for one in later) and any(
        root in one.memory_written() for one in later
    ):
        return
    buffer.place = target
    step.statements.remove(materialized)
    step.origins.pop(materialized, None)


def _all(step: Step) -> list[View]:
    return [view for statement in step.statements for view in statement.views()]
