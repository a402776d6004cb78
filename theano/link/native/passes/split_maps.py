"""Maps over joined arrays become maps over their parts.

A stencil joins its inside with both ends, and a roll two parts: each part has its own pass that stores it, and what
reads the joined array waits for these stores. Check: one map reads the array, all of it, and the parts are
all that there is. Transformation: a map for each part, whose results lie where those of the one map did; then
`forward_copies` has each read its part where it comes from, and `fuse_maps` joins it with what computes the part.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.step import Step
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.forward_copies import Part, Uses, joined_arrays, parts_of
from theano.link.native.passes.fuse_maps import is_all_of_its_buffer
from theano.link.native.passes.ranges import in_order, range_of
from theano.link.native.passes.slice_maps import work_of
from theano.link.native.passes.views_of_views import composed
from theano.link.native.statements.base import as_kind
from theano.link.native.statements.map import Map

# So many operations of C, in all parts, take the C compiler little longer than the one map.
_MOST = 64


def split_maps(loop: Loop) -> None:
    """Split maps that read joined arrays."""
    step = loop.step
    arrays = joined_arrays(step.statements)
    if not arrays:
        return
    kept = {buffer.root() for buffer in returned_buffers(loop)}
    dependence = Dependence(loop)
    uses = Uses(step.statements, dependence)
    for array in arrays:
        if array in kept:
            continue
        parts = parts_of(array, step.statements, uses, step.sizes)
        reader = _reader(array, parts, uses, dependence, step.sizes)
        if reader is None or not _are_all(array, parts, step.sizes):
            continue
        if {view.buffer for view in reader.views()} & set(arrays) != {array}:
            # of two arrays there would be a map for each part of one and of the other
            continue
        if work_of(reader.body) * len(parts) <= _MOST:
            _split(step, reader, parts, _materialized(reader, uses, kept))
            # positions have changed
            dependence = Dependence(loop)
            uses = Uses(step.statements, dependence)


def _reader(
    array: Buffer, parts: list[Part], uses: Uses, dependence: Dependence, sizes: Sizes
) -> Map | None:
    """Return the one map that reads an array, all of it, after its parts; None if something else does."""
    whole = {array, *(part.elements.buffer for part in parts if part.copy is None)}
    if len(parts) < 2 or any(buffer not in whole for buffer in uses.buffers[array]):
        return None
    readers = uses.readers[array]
    if len({statement for _, statement, _ in readers}) != 1:
        return None
    reader, first = as_kind(readers[0][1], Map), readers[0][0]
    if reader is None or first <= max(part.position for part in parts):
        return None
    if not all(
        view.buffer is array and is_all_of_its_buffer(view, sizes) for _, _, view in readers
    ):
        return None
    read = {dependence.memory(part.elements.buffer) for part in parts if part.copy is not None}
    return reader if dependence.writes(reader).isdisjoint(read) else None


def _are_all(array: Buffer, parts: list[Part], sizes: Sizes) -> bool:
    """Return whether parts are one after the other from the array's beginning to its end."""
    ranges = [range_of(part.target, array, sizes) for part in parts]
    known = [one for one in ranges if one is not None]
    if len(known) < len(parts):
        return False
    ordered = in_order(known, array, sizes)
    if ordered is None or ordered[0].start != 0:
        return False
    last = ordered[-1]
    end = sizes.end(last.start, last.length)
    return end is not None and sizes.find(end) == sizes.find(array.shape[last.axis])


def _materialized(reader: Map, uses: Uses, kept: set[Buffer]) -> list[Compute]:
    """Return what of a map others read, or lies in other memory."""
    found = []
    for compute in reader.body:
        buffer = compute.buffer
        if buffer is None:
            continue
        root = buffer.root()
        if buffer.place is not None or root in kept or uses.readers[root]:
            found.append(compute)
    return found


def _split(step: Step, reader: Map, parts: list[Part], materialized: list[Compute]) -> None:
    """Put a map for each of some parts where one map was."""
    maps = [_map_of(step, reader, part.target, materialized) for part in parts]
    for compute in materialized:
        assert compute.buffer is not None
        compute.buffer.compute = None
    position = step.statements.index(reader)
    step.statements[position : position + 1] = maps
    origin = step.origins.pop(reader, None)
    for own in maps:
        step.origins[own] = origin


def _map_of(step: Step, reader: Map, part: View, materialized: list[Compute]) -> Map:
    """Return the map of a part, whose results lie in the part of those of the whole map."""
    made: dict[Compute, Compute] = {}
    for compute in reader.body:
        result = step.temporary(compute.dtype, part.shape)
        if compute in materialized:
            assert compute.buffer is not None
            result.place = composed(part, View.of(compute.buffer), step.sizes)
        operands: list[View | Scalar | Compute] = []
        for one in compute.operands:
            if isinstance(one, Compute):
                operands.append(made[one])
            else:
                operands.append(composed(part, one, step.sizes) if isinstance(one, View) else one)
        made[compute] = compute.made_again(result, operands)
    return Map(part.shape, list(made.values()))
