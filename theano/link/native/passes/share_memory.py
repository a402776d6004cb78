"""Copies that need not be made: what is copied is not needed any more, so it is changed in place.

Check: a whole temporary of the same shape that no later statement reads or writes, and that lies
in its own memory. Transformation: the copy becomes another name for it; or, where its elements
stand there in another order, such as rows from the last to the first, it is computed in that order,
unless it is a product whose rows would not lie in one piece.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.statements.base import Statement, of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm


def share_memory(lowered: Loop | Segment) -> None:
    """Drop copies of temporaries that nothing needs after the copy."""
    statements = lowered.step.statements
    last, first = last_uses(statements), first_uses(statements)
    positions = {statement: position for position, statement in enumerate(statements)}
    products = {product.out.buffer for product in of_kind(statements, Gemm)}
    for statement in list(of_kind(statements, Copy)):
        if _can_share(statement, positions[statement], last):
            assert isinstance(statement.source, View)
            kept, copy = statement.source.buffer, statement.target.buffer
            uses = max(last[kept.root()], last[copy.root()])
            if copy.place is not None:
                kept.root().place, copy.place = copy.place, None
            copy.source = statement.source
            kept.packed = True
            last[kept.root()] = uses
            statements.remove(statement)
        elif statement.rows is not None:
            _copy_first_rows(statement)
        elif (there := _turned(statement, positions[statement], last, first)) is not None:
            assert isinstance(statement.source, View)
            if statement.source.buffer in products and not _has_whole_rows(there):
                continue
            turned, copy = statement.source.buffer, there.buffer
            turned.place, first[copy] = there, first[turned]
            statements.remove(statement)


def _copy_first_rows(statement: Copy) -> None:
    """Copy no more rows than are needed."""
    assert isinstance(statement.source, View) and statement.rows is not None
    for name in ("target", "source"):
        view = getattr(statement, name)
        shape = (statement.rows, *view.shape[1:])
        setattr(statement, name, View(view.buffer, shape, view.axes, view.steps, view.start))


def _can_share(statement: Copy, position: int, last: dict[Buffer, int]) -> bool:
    source, target = statement.source, statement.target
    if not isinstance(source, View) or not (source.whole and target.whole):
        return False
    kept, copy = source.buffer, target.buffer
    movable = copy.place is None or (
        # then what is kept is computed where the copy goes
        copy.place.whole and kept.root().place is None and _is_another_name(kept)
    )
    return (
        kept.role == copy.role == "temporary"
        and kept.root().role == "temporary"
        and movable
        and copy.source is None
        and kept.dtype == copy.dtype
        and last[kept.root()] <= position
    )


def _turned(
    statement: Copy, position: int, last: dict[Buffer, int], first: dict[Buffer, int]
) -> View | None:
    """Return where what is copied lies within the copy, if it can be computed there."""
    source, target = statement.source, statement.target
    if not isinstance(source, View) or not target.whole or None in source.axes:
        return None
    kept, copy = source.buffer, target.buffer
    if (
        any(one.role != "temporary" or one.root() is not one for one in (kept, copy))
        or kept.packed
        or kept.dtype != copy.dtype
        or last[kept] > position
        or first[copy] < position
        or {*source.axes} != {*range(len(kept.shape))}
        or tuple(kept.shape[axis] for axis in source.axes if axis is not None) != source.shape
        or any(step not in (1, -1) for step in source.steps)
    ):
        return None
    # all of an axis is shown, so that from the end it begins at the last element
    dimensions = [source.axes.index(axis) for axis in range(len(kept.shape))]
    start: list[Size] = [0] * len(copy.shape)
    for axis, d in enumerate(dimensions):
        if source.steps[d] == -1:
            start[d] = source.start[axis]
    steps = tuple(source.steps[d] for d in dimensions)
    return View(copy, kept.shape, tuple(dimensions), steps, tuple(start))


def _has_whole_rows(view: View) -> bool:
    """Return whether the elements of a row lie next to one another, in order."""
    return view.axes[-1] == len(view.buffer.shape) - 1 and view.steps[-1] == 1


def _is_another_name(buffer: Buffer) -> bool:
    """Return whether a buffer is all of its memory, under the same shape."""
    while buffer.source is not None:
        if not buffer.source.whole or buffer.source.shape != buffer.shape:
            return False
        buffer = buffer.source.buffer
    return buffer.place is None


def first_uses(statements: list[Statement]) -> dict[Buffer, int]:
    """Return the position of the first statement that reads or writes the memory of each buffer."""
    first: dict[Buffer, int] = {}
    for position, statement in enumerate(statements):
        for buffer in [*(view.buffer for view in statement.views()), *statement.written()]:
            first.setdefault(buffer.root(), position)
    return first


def last_uses(statements: list[Statement]) -> dict[Buffer, int]:
    """Return the position of the last statement that reads or writes each buffer, or its memory."""
    last: dict[Buffer, int] = {}
    for position, statement in enumerate(statements):
        for buffer in statement.buffers():
            last[buffer.root()] = position
            last[buffer] = position
    return last
