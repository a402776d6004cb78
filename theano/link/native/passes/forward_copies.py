"""Reads of copies become reads of what was copied.

Arrays that are joined, repeated, rolled or padded are copies of parts; where each reader needs what lies
within one of them, the copies need not be made. Check: nothing but maps, reductions and copies reads the
array, each a part that one statement wrote, and what that copied is not written before it is read.
Transformation: they read it where it is; what was computed in a part has its own memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.ranges import in_order, range_of
from theano.link.native.passes.views_of_views import begins_before_statements, composed, within
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Part:
    """A part of an array, the elements that a statement puts there, and its position."""

    target: View
    elements: View
    position: int
    copy: Copy | None = None


class Uses:
    """The statements that write each memory, and those that read it."""

    def __init__(self, statements: list[Statement], dependence: Dependence):
        self.writers: dict[Hashable, list[int]] = defaultdict(list)
        self.readers: dict[Buffer, list[tuple[int, Statement, View]]] = defaultdict(list)
        self.buffers: dict[Buffer, dict[Buffer, int]] = defaultdict(dict)
        for position, statement in enumerate(statements):
            for memory in dependence.writes(statement):
                self.writers[memory].append(position)
            for buffer in statement.written():
                self.buffers[buffer.root()][buffer] = position
            for value in statement.values_read():
                if isinstance(value, View):
                    self.readers[value.buffer.root()].append((position, statement, value))
                    self.buffers[value.buffer.root()].setdefault(value.buffer, position)

    def move(self, array: Buffer, found: list[tuple[Statement, View, View]]) -> None:
        """Take in that all that read an array reads other memory."""
        positions = {statement: position for position, statement, _ in self.readers.pop(array)}
        for statement, _, new in found:
            root, position = new.buffer.root(), positions[statement]
            self.readers[root].append((position, statement, new))
            self.buffers[root].setdefault(new.buffer, position)


def forward_copies(lowered: Loop | Segment) -> None:
    """Leave out copies whose readers can read what is copied."""
    step = lowered.step
    arrays = joined_arrays(step.statements)
    if not arrays:
        return
    dependence = Dependence(lowered)
    uses = Uses(step.statements, dependence)
    kept = {buffer.root() for buffer in returned_buffers(lowered)}
    gone: set[Statement] = set()
    for array in arrays:
        if array in kept:
            continue
        parts = parts_of(array, step.statements, uses, step.sizes)
        found = _found(array, parts, uses, dependence, step.sizes)
        if not found:
            continue
        for statement, view, new in found:
            statement.replace_views({id(view): new})
            dependence.forget(statement)
        for part in parts:
            if part.copy is not None:
                gone.add(part.copy)
                step.origins.pop(part.copy, None)
            else:
                part.elements.buffer.place = None
        uses.move(array, found)
    step.statements = [one for one in step.statements if one not in gone]


def joined_arrays(statements: list[Statement]) -> list[Buffer]:
    """Return the temporaries that are copied into, or of which parts are computed in their place."""
    found: dict[Buffer, None] = {}
    for statement in statements:
        copy = as_kind(statement, Copy)
        if copy is not None:
            found[copy.target.buffer] = None
        for buffer in statement.written():
            if buffer.place is not None:
                found[buffer.place.buffer] = None
    return [one for one in found if one.role == "temporary" and one.root() is one]


def parts_of(array: Buffer, statements: list[Statement], uses: Uses, sizes: Sizes) -> list[Part]:
    """Return the parts of an array; none if anything else writes it, or they do not lie apart."""
    parts: list[Part] = []
    for position in uses.writers[array]:
        statement = statements[position]
        copy = as_kind(statement, Copy)
        if copy is not None:
            source = copy.source
            if (
                not isinstance(source, View)
                or copy.may_be_same
                or copy.target.buffer is not array
                or source.dtype != array.dtype
                or not _is_forward(source)
                or not begins_before_statements(source, sizes)
            ):
                return []
            parts.append(Part(copy.target, _stretched(source, copy.target, sizes), position, copy))
            continue
        for buffer in statement.written():
            if buffer.root() is not array:
                continue
            if buffer.place is None or buffer.place.buffer is not array or buffer.packed:
                return []
            parts.append(Part(buffer.place, View.of(buffer), position))
    if len(parts) > 1:
        ranges = [range_of(part.target, array, sizes) for part in parts]
        known = [one for one in ranges if one is not None]
        if len(known) < len(parts) or in_order(known, array, sizes) is None:
            return []
    return parts


def _is_forward(source: View) -> bool:
    """Return whether a view shows axes in their order, so that it is read as fast as a copy of it."""
    order = [axis for axis in source.axes if axis is not None]
    return order == sorted(set(order)) and all(abs(step) <= 1 for step in source.steps)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    steps = tuple(0 if a is None else s for a, s in zip(axes, source.steps, strict=True))
    return View(source.buffer, target.shape, axes, steps, source.start)


def _found(
    array: Buffer, parts: list[Part], uses: Uses, dependence: Dependence, sizes: Sizes
) -> list[tuple[Statement, View, View]]:
    """Return all that reads an array, and the view that it may read; none if not all of them may."""
    if not parts:
        return []
    whole = {array, *(part.elements.buffer for part in parts if part.copy is None)}
    if any(buffer not in whole for buffer in uses.buffers[array]):
        # it has other names
        return []
    last = max(part.position for part in parts)
    found = []
    for position, statement, view in uses.readers[array]:
        if view.buffer is not array:
            # what is computed in a part, where it is computed
            continue
        if position <= last or type(statement) not in (Map, Reduce, Copy):
            return []
        new = _view_of_part(view, parts, position, uses, dependence, sizes)
        if new is None:
            return []
        found.append((statement, view, new))
    return found


def _view_of_part(
    view: View,
    parts: list[Part],
    position: int,
    uses: Uses,
    dependence: Dependence,
    sizes: Sizes,
) -> View | None:
    """Return what a view shows of what was put into a part of its buffer, as it lies elsewhere."""
    if not begins_before_statements(view, sizes):
        return None
    for part in parts:
        inner = within(view, part.target, sizes)
        if inner is None:
            continue
        if part.copy is None:
            return composed(inner, part.elements, sizes)
        memory = dependence.memory(part.elements.buffer)
        later = [one for one in uses.writers[memory] if part.position < one <= position]
        return None if later else composed(inner, part.elements, sizes)
    return None
