"""A map whose results are only read under another shape is done in that shape.

What is tiled or repeated is a copy with more axes under another name; a map over it whose result is summed
over those axes reads and writes names. In the shape of what it reads and of what reads it, it is one pass
with both. Check: all names of its results have one shape, and each operand is all of an array in C order.
Transformation: operands and results have that shape.
"""

from __future__ import annotations

from collections import defaultdict

from theano.link.native.ir.ir import Buffer, Scalar, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.fuse_maps import is_all_of_its_buffer
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

_Readers = dict[Buffer, list[tuple[Statement, View]]]


def reshape_maps(segment: Segment) -> None:
    """Have maps compute under the shape in which their results are read."""
    step = segment.step
    views = [(statement, view) for statement in step.statements for view in statement.views()]
    aliases = {view.buffer.root() for _, view in views if view.buffer.source is not None}
    if not aliases:
        return
    readers: _Readers = defaultdict(list)
    for statement, view in views:
        readers[view.buffer.root()].append((statement, view))
    kept = {buffer.root() for buffer in returned_buffers(segment)}
    # those that read the result of another one are reshaped before it
    for statement in reversed(list(of_kind(step.statements, Map))):
        results = [buffer for buffer in statement.written() if readers[buffer]]
        if not any(buffer in aliases for buffer in results) or any(
            buffer in kept or buffer.root() is not buffer for buffer in statement.written()
        ):
            continue
        shape = _shape_read(results, readers, step.sizes)
        if shape is None:
            continue
        operands = _reshaped_operands(statement, shape, step.sizes)
        if operands is not None:
            _reshape(statement, shape, operands, results, readers)


def _shape_read(results: list[Buffer], readers: _Readers, sizes: Sizes) -> tuple[Size, ...] | None:
    """Return the one shape of the names by which results are read; None if there are several."""
    shapes: dict[tuple[Size, ...], None] = {}
    for result in results:
        for statement, view in readers[result]:
            name = view.buffer
            if type(statement) not in (Map, Reduce, Copy) or name.source is None:
                return None
            if view is getattr(statement, "target", None):
                return None
            if name.source.buffer is not result or not is_all_of_its_buffer(name.source, sizes):
                return None
            shapes[tuple(map(sizes.find, name.shape))] = None
    return next(iter(shapes)) if len(shapes) == 1 else None


def _reshaped_operands(
    statement: Map, shape: tuple[Size, ...], sizes: Sizes
) -> dict[int, View] | None:
    """Return the operands of a map under another shape, by identity; None if one has no such view."""
    found: dict[int, View] = {}
    for operand in statement.values_read():
        if isinstance(operand, Scalar) or id(operand) in found:
            continue
        if not is_all_of_its_buffer(operand, sizes):
            return None
        buffer = operand.buffer
        if buffer.source is not None and is_all_of_its_buffer(buffer.source, sizes):
            behind = buffer.source.buffer
            if tuple(map(sizes.find, behind.shape)) == shape:
                found[id(operand)] = View.of(behind)
                continue
        if buffer.place is not None or buffer.strides is not None or buffer.role == "row":
            return None
        buffer.packed = True
        name = f"{buffer.name}_{len(shape)}d"
        alias = Buffer(name, buffer.dtype, shape, "temporary", source=View.of(buffer))
        found[id(operand)] = View.of(alias)
    return found


def _reshape(
    statement: Map,
    shape: tuple[Size, ...],
    operands: dict[int, View],
    results: list[Buffer],
    readers: _Readers,
) -> None:
    statement.shape = shape
    statement.replace_views(operands)
    for buffer in statement.written():
        buffer.shape = shape
    for view in operands.values():
        readers[view.buffer.root()].append((statement, view))
    for result in results:
        for position, (reader, view) in enumerate(readers[result]):
            new = View(result, view.shape, view.axes, view.steps, view.start)
            reader.replace_views({id(view): new})
            readers[result][position] = reader, new
