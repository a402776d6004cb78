"""Maps over the same shape become one pass over the elements.

Check: the later map may be done right after the earlier one, or the earlier one right before the
later one, and what one reads of the other's results lies where it is computed. Transformation:
their computations are one map, in which results are read without memory.

Lowering joins maps while it goes; here all sizes are known to be equal that are.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Compute, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.passes.split_reduced import CACHED, maps_for_numbers, reduced_to_numbers
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# How far apart two maps may be: long programs have thousands of statements.
DISTANCE = 24


def fuse_maps(lowered: Loop | Segment) -> None:
    """Join maps over equal shapes; positions change."""
    step = lowered.step
    dependence = Dependence(lowered)
    statements = step.statements
    # what only becomes numbers is one pass with reductions: of any map in a segment, of a separate one in a loop
    reduced = reduced_to_numbers(statements) if isinstance(lowered, Loop) else set()
    fusion = _Fusion(step.sizes, dependence, maps_for_numbers(statements), _reduced(statements))
    position = 0
    while position < len(statements):
        other = as_kind(statements[position], Map)
        if other is not None and {buffer.root() for buffer in other.written()} & reduced:
            other = None
        one = other and fusion.earlier_map(statements, position, other)
        if one is None or other is None:
            position += 1
            continue
        first = statements.index(one)
        between = statements[first + 1 : position]
        up = not dependence.any_ordered(between, other)
        _join(one, other, step.sizes)
        dependence.forget(one)
        step.origins.pop(other, None)
        del statements[position]
        if not up:
            # the earlier one moves down
            statements.insert(position - 1, statements.pop(first))
            position -= 1


@dataclass
class _Fusion:
    """The maps that may be joined.

    Attributes
    ----------
    for_numbers
        Those that only become numbers.
    reduced
        The buffers that are reduced to arrays: one pass takes one such reduction.
    """

    sizes: Sizes
    dependence: Dependence
    for_numbers: set[Map]
    reduced: set[Buffer]

    def earlier_map(self, statements: list[Statement], position: int, other: Map) -> Map | None:
        """Return the map that one at a position can be joined with; None if there is none."""
        shape = _shape(other, self.sizes)
        few = self.sizes.known_below(shape, CACHED)
        only_one = not self.sizes.known_below(shape, FEW) and self._is_reduced(other)
        for first in range(position - 1, max(position - DISTANCE, 0) - 1, -1):
            one = as_kind(statements[first], Map)
            if (
                one is not None
                and _shape(one, self.sizes) == shape
                and len(one.body) + len(other.body) <= MOST_IN_A_MAP
                and (few or (one in self.for_numbers) == (other in self.for_numbers))
                and not (only_one and self._is_reduced(one))
                and _fit(one, other, self.sizes, self.dependence)
                and _can_be_joined(statements[first + 1 : position], one, other, self.dependence)
            ):
                return one
        return None

    def _is_reduced(self, one: Map) -> bool:
        return not self.reduced.isdisjoint(one.written())


def _reduced(statements: list[Statement]) -> set[Buffer]:
    reductions = of_kind(statements, Reduce)
    return {one.source.buffer for one in reductions if isinstance(one.target, View) and one.axes}


def _shape(statement: Map, sizes: Sizes) -> tuple[Size, ...]:
    return tuple(map(sizes.find, statement.shape))


def _can_be_joined(between: list[Statement], one: Map, other: Map, dependence: Dependence) -> bool:
    """Return whether one of two maps can be moved to the other."""
    return not dependence.any_ordered(between, other) or not any(
        dependence.ordered(one, statement) for statement in between
    )


def _fit(one: Map, other: Map, sizes: Sizes, dependence: Dependence) -> bool:
    """Return whether two maps side by side may be done element by element together."""
    if _read_both_ways(one, other):
        return False
    if not dependence.writes(other).isdisjoint(dependence.writes(one)):
        if not _write_apart(one, other, sizes, dependence):
            return False
    if not all(
        is_all_of_its_buffer(view, sizes) and view.buffer.root() is view.buffer
        for view in one.values_read()
        if isinstance(view, View) and dependence.memory(view.buffer) in dependence.writes(other)
    ):
        # what the later one writes is read at other elements
        return False
    made, written = _buffers_made(one), dependence.writes(one)
    return all(
        view.buffer in made and is_all_of_its_buffer(view, sizes)
        for view in other.values_read()
        if isinstance(view, View) and dependence.memory(view.buffer) in written
    )


def _read_both_ways(one: Map, other: Map) -> bool:
    """Return whether two maps read the rows of an array in opposite orders.

    One pass would read it no less, and could not be done in blocks of rows.
    """
    partitions = [
        {(view.buffer.root(), view.axes[0]): view.steps[0] for view in each.views() if view.axes}
        for each in (one, other)
    ]
    return any(
        partitions[0].get(key, partition) * partition < 0
        for key, partition in partitions[1].items()
    )


def _write_apart(one: Map, other: Map, sizes: Sizes, dependence: Dependence) -> bool:
    """Return whether all that both write of the same memory are parts of it, each computed there."""
    both = dependence.writes(one) & dependence.writes(other)
    return all(
        buffer.place is not None and not is_all_of_its_buffer(buffer.place, sizes)
        for buffer in (*one.written(), *other.written())
        if dependence.memory(buffer) in both
    )


def _buffers_made(statement: Map) -> dict[Buffer, Compute]:
    return {c.buffer: c for c in statement.body if c.buffer is not None}


def is_all_of_its_buffer(view: View, sizes: Sizes) -> bool:
    """Return whether a view is its buffer, whatever its sizes are called."""
    buffer = view.buffer
    return (
        view.axes == tuple(range(len(buffer.shape)))
        and all(step == 1 for step in view.steps)
        and all(start == 0 for start in view.start)
        and all(
            sizes.find(a) == sizes.find(b) for a, b in zip(view.shape, buffer.shape, strict=True)
        )
    )


def _join(one: Map, other: Map, sizes: Sizes) -> None:
    """Append the computations of a map to those of another one."""
    made = _buffers_made(one)
    for compute in other.body:
        compute.operands = [
            made[operand.buffer]
            if isinstance(operand, View) and operand.buffer in made
            else operand
            for operand in compute.operands
        ]
    one.body += other.body
