"""A map's result of which only slices are read is computed where the slices are read.

The gates of a step are slices of a sum; each is then one pass with what reads it, and the sum
takes no memory. Check: readers are maps, the slices lie apart, and nothing that the result is
computed from is written before it is read. Transformation: each reader computes its slice.
"""

from __future__ import annotations

from typing import cast

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP, Step
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.ranges import Range, in_order, range_of
from theano.link.native.passes.unread import answered_buffers
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.map import Map


def slice_maps(lowered: Loop | Segment) -> None:
    """Compute in their readers what is read by slices only."""
    step = lowered.step
    readers = _views_read(step.statements)
    kept = {buffer.root() for buffer in answered_buffers(lowered)}
    dependence = Dependence(lowered)
    positions = {statement: position for position, statement in enumerate(step.statements)}
    for statement in of_kind(step.statements, Map):
        for compute in list(statement.body):
            buffer = compute.buffer
            if buffer is None or buffer.place is not None or buffer in kept:
                continue
            found = _slices(buffer, readers.get(buffer, []), step.sizes)
            tree = tree_of(compute)
            if found and _may_move(step.statements, positions[statement], tree, found, dependence):
                for reader, view, part in found:
                    _compute_in(step, reader, view, part, tree)
                    dependence.forget(reader)


def _views_read(statements: list[Statement]) -> dict[Buffer, list[tuple[Statement, View]]]:
    """Return the views of each memory, with the statements that read or write them."""
    found: dict[Buffer, list[tuple[Statement, View]]] = {}
    for statement in statements:
        for view in statement.views():
            found.setdefault(view.buffer.root(), []).append((statement, view))
    return found


def _slices(
    buffer: Buffer, uses: list[tuple[Statement, View]], sizes: Sizes
) -> list[tuple[Map, View, Range]]:
    """Return the slices by which maps read a buffer; none if anything else is done with it."""
    found = []
    maps = {*of_kind((statement for statement, _ in uses), Map)}
    for statement, view in uses:
        part = range_of(view, buffer, sizes) if view.buffer is buffer else None
        if part is None or statement not in maps:
            return []
        found.append((cast(Map, statement), view, part))
    return found if found and in_order(list({p: p for *_, p in found}), buffer, sizes) else []


def tree_of(compute: Compute) -> list[Compute]:
    """Return the computations of a map that one of them needs, each after its operands."""
    found: dict[Compute, None] = {}

    def add(one: Compute) -> None:
        for operand in one.operands:
            if isinstance(operand, Compute) and operand not in found:
                add(operand)
        found[one] = None

    add(compute)
    return list(found)


def _may_move(
    statements: list[Statement],
    position: int,
    tree: list[Compute],
    found: list[tuple[Map, View, Range]],
    dependence: Dependence,
) -> bool:
    """Return whether the readers may compute a result from what they find then."""
    operands = [one for compute in tree for one in compute.operands]
    views = [one for one in operands if isinstance(one, View)]
    if len(tree) > 1 and any(one.operation.function for one in tree[:-1]):
        # its operand may be needed elsewhere, and is not computed twice
        return False
    read = {dependence.memory(view.buffer) for view in views}
    last = max(statements.index(reader) for reader, _, _ in found)
    if any(len(reader.body) + len(tree) > MOST_IN_A_MAP for reader, _, _ in found):
        return False
    return all(dependence.writes(one).isdisjoint(read) for one in statements[position : last + 1])


def _compute_in(step: Step, reader: Map, view: View, part: Range, tree: list[Compute]) -> None:
    """Have a map compute a slice that it read."""
    made: dict[Compute, Compute] = {}
    for compute in tree:
        buffer = step.temporary(compute.dtype, view.shape)
        operands: list[View | Scalar | Compute] = []
        for operand in compute.operands:
            if isinstance(operand, Compute):
                operands.append(made[operand])
            else:
                operands.append(
                    _sliced(step.sizes, operand, view.shape, part)
                    if isinstance(operand, View)
                    else operand
                )
        made[compute] = compute.made_again(buffer, operands)
    reader.body[:0] = made.values()
    for compute in reader.body:
        compute.operands = [
            made[tree[-1]] if operand is view else operand for operand in compute.operands
        ]


def _sliced(sizes: Sizes, view: View, shape: tuple[Size, ...], part: Range) -> View:
    """Return the part of an operand of a map that belongs to a range of its result."""
    axis, start = view.axes[part.axis], list(view.start)
    if axis is not None:
        moved = sizes.binary(part.start, "*", view.steps[part.axis])
        start[axis] = sizes.binary(start[axis], "+", moved)
    return View(view.buffer, shape, view.axes, view.steps, tuple(start))
