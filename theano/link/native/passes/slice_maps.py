"""A map's result of which only slices are read is computed where the slices are read.

The gates of a step are slices of a sum; each is then one pass with what reads it, and the sum
takes no memory. Check: readers are maps, outside loops copies and reductions, too; the slices lie apart,
and nothing that the result is computed from is written before it is read. Transformation: each reader
computes its slice; for one that is no map, a separate map does.
"""

from __future__ import annotations

from typing import cast

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP, Step
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.ranges import in_order, lie_apart, part_of, range_of
from theano.link.native.passes.results_of_maps import result_in
from theano.link.native.passes.views_of_views import begins_before_statements, composed
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# of how many operations the C of a function is
_FUNCTION = 16


def slice_maps(lowered: Loop | Segment) -> None:
    """Compute in their readers what is read by slices only."""
    step, outside = lowered.step, isinstance(lowered, Segment)
    readers = _views_read(step.statements)
    kept = {buffer.root() for buffer in returned_buffers(lowered)}
    dependence = Dependence(lowered)
    results = [(one, compute) for one in of_kind(step.statements, Map) for compute in one.body]
    moved: dict[Map, None] = {}
    # outside loops, what is moved may leave only slices of what it reads
    for statement, compute in reversed(results) if outside else results:
        buffer = compute.buffer
        if buffer is None or buffer.place is not None or buffer in kept:
            continue
        found = _slices(buffer, readers.get(buffer, []), step.sizes, outside)
        if not found:
            continue
        tree = tree_of(compute)
        position = step.statements.index(statement)
        others = readers if outside else None
        if _may_move(step.statements, position, tree, found, dependence, others):
            owners = [_compute_for(step, reader, view, tree) for reader, view in found]
            dependence.forget(*owners, *(reader for reader, _ in found))
            if outside:
                _read_by_others(readers, buffer, statement, tree, owners)
                dependence.forget(statement)
                moved |= dict.fromkeys([statement, *owners])
    for own in moved:
        _compute_equal_once(own, readers, step.sizes)
    if moved:
        empty = {own for own in moved if not own.body}
        step.statements = [one for one in step.statements if one not in empty]


def _views_read(statements: list[Statement]) -> dict[Buffer, list[tuple[Statement, View]]]:
    """Return the views of each memory, with the statements that read or write them."""
    found: dict[Buffer, list[tuple[Statement, View]]] = {}
    for statement in statements:
        for view in statement.views():
            found.setdefault(view.buffer.root(), []).append((statement, view))
    return found


def _slices(
    buffer: Buffer,
    uses: list[tuple[Statement, View]],
    sizes: Sizes,
    outside: bool,
) -> list[tuple[Statement, View]]:
    """Return the slices by which others read a buffer; none if anything else is done with it."""
    kinds = (Map, Copy, Reduce) if outside else (Map,)
    for reader, view in uses:
        written = view is getattr(reader, "target", None)
        if written or view.buffer is not buffer or type(reader) not in kinds:
            return []
    if not outside:
        parts = [range_of(view, buffer, sizes) for _, view in uses]
    elif not all(begins_before_statements(view, sizes) for _, view in uses):
        return []
    elif len(uses) == 1 and _is_a_part(uses[0][1], sizes):
        return uses
    else:
        parts = [part_of(view, buffer, sizes) for _, view in uses]
    known = list(dict.fromkeys(part for part in parts if part is not None))
    if known and None not in parts and in_order(known, buffer, sizes) is not None:
        return uses
    if not outside or not all(_is_a_part(view, sizes) for _, view in uses):
        return []
    return uses if lie_apart([view for _, view in uses], sizes) else []


def _is_a_part(view: View, sizes: Sizes) -> bool:
    """Return whether a view shows some of a buffer's elements, each once, and not all of them."""
    axes = [axis for axis in view.axes if axis is not None]
    if len(axes) < view.ndim or axes != sorted(set(axes)):
        return False
    shape = [sizes.find(view.buffer.shape[axis]) for axis in axes]
    return len(axes) < len(view.buffer.shape) or shape != [*map(sizes.find, view.shape)]


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
    found: list[tuple[Statement, View]],
    dependence: Dependence,
    readers: dict[Buffer, list[tuple[Statement, View]]] | None,
) -> bool:
    """Return whether the readers may compute a result from what they find then.

    Parameters
    ----------
    readers
        What reads each memory, where the result may be computed of what only it needs; else None.
    """
    operands = [one for compute in tree for one in compute.operands]
    views = [one for one in operands if isinstance(one, View)]
    statement = cast(Map, statements[position])
    again = tree[:-1]
    if readers is not None:
        several = len({(view.axes, view.shape, view.start) for _, view in found}) < len(found)
        again = tree if several else _needed_elsewhere(statement, tree, readers)
    if any(one.operation.function for one in again):
        # its operand may be needed elsewhere, and is not computed twice
        return False
    read = {dependence.memory(view.buffer) for view in views}
    last = max(statements.index(reader) for reader, _ in found)
    if readers is not None and work_of(tree) * len(found) > MOST_IN_A_MAP:
        return False
    for reader, _ in found:
        own = as_kind(reader, Map)
        if len(tree) + (len(own.body) if own is not None else 0) > MOST_IN_A_MAP:
            return False
    return all(dependence.writes(one).isdisjoint(read) for one in statements[position : last + 1])


def _is_read(buffer: Buffer | None, readers: dict[Buffer, list[tuple[Statement, View]]]) -> bool:
    """Return whether a result of a map is read from memory, by the caller for one."""
    return buffer is not None and bool(buffer.root() is not buffer or readers.get(buffer))


def work_of(tree: list[Compute]) -> int:
    """Return how long the C compiler takes for computations, in operations."""
    return sum(_FUNCTION if one.operation.function else 1 for one in tree)


def _needed_elsewhere(
    statement: Map, tree: list[Compute], readers: dict[Buffer, list[tuple[Statement, View]]]
) -> list[Compute]:
    """Return what of a tree others need than its last computation, and all that is computed for it."""
    own = set(tree)
    needed: dict[Compute, None] = {}
    others = [one for c in statement.body if c not in own for one in c.operands]
    for one in tree[:-1]:
        if _is_read(one.buffer, readers) or any(one is other for other in others):
            needed |= dict.fromkeys(tree_of(one))
    return list(needed)


def _compute_for(step: Step, reader: Statement, view: View, tree: list[Compute]) -> Map:
    """Have a statement read a slice of a map's result from the map that computes just this slice."""
    own = as_kind(reader, Map)
    if own is not None:
        made = _made_again(step, view, tree, step.temporary(view.dtype, view.shape))
        own.body[:0] = made
        for compute in own.body:
            compute.operands = [made[-1] if one is view else one for one in compute.operands]
        return own
    copy = as_kind(reader, Copy)
    if copy is not None and not _may_be_computed(copy, step.sizes):
        copy = None
    there = copy and result_in(step, copy.target)
    result = there or step.temporary(view.dtype, view.shape)
    own = Map(view.shape, _made_again(step, view, tree, result))
    step.origins[own] = step.origins.get(reader)
    position = step.statements.index(reader)
    if there is not None:
        step.statements[position] = own
        step.origins.pop(reader, None)
    else:
        step.statements.insert(position, own)
        reader.replace_views({id(view): View.of(result)})
    return own


def _compute_equal_once(
    statement: Map, readers: dict[Buffer, list[tuple[Statement, View]]], sizes: Sizes
) -> None:
    """Leave out of a map what it computes of the same operands before."""
    first: dict[tuple[object, ...], Compute] = {}
    equal: dict[Compute, Compute] = {}
    for compute in statement.body:
        compute.operands = [
            equal.get(one, one) if isinstance(one, Compute) else one for one in compute.operands
        ]
        operands = (_key_of(one, sizes) for one in compute.operands)
        known = first.setdefault((compute.operation, compute.dtypes, *operands), compute)
        if known is not compute and not _is_read(compute.buffer, readers):
            equal[compute] = known
    statement.body = [compute for compute in statement.body if compute not in equal]


def _key_of(operand: View | Scalar | Compute, sizes: Sizes) -> object:
    """Return what is the same for operands that have the same elements."""
    if isinstance(operand, Compute):
        return operand
    if isinstance(operand, Scalar):
        return operand.expression, operand.dtype
    start = tuple(map(sizes.find, operand.start))
    return operand.buffer, operand.axes, operand.steps, start


def _read_by_others(
    readers: dict[Buffer, list[tuple[Statement, View]]],
    buffer: Buffer,
    statement: Map,
    tree: list[Compute],
    owners: list[Map],
) -> None:
    """Leave out of a map what others compute now, and note what they read for it."""
    del readers[buffer]
    for compute in reversed(tree):
        others = {one for c in statement.body for one in c.operands if isinstance(one, Compute)}
        if compute not in others and not _is_read(compute.buffer, readers):
            statement.body.remove(compute)
    before = {view.buffer.root() for c in tree for view in c.operands if isinstance(view, View)}
    for root in before:
        left = {id(view) for view in statement.views()}
        kept = [use for use in readers[root] if use[0] is not statement or id(use[1]) in left]
        uses = ((own, view) for own in dict.fromkeys(owners) for view in own.views())
        known = {(reader, id(view)) for reader, view in kept}
        new = [(own, view) for own, view in uses if (own, id(view)) not in known]
        kept += [use for use in new if use[1].buffer.root() is root]
        readers[root] = kept


def _may_be_computed(copy: Copy, sizes: Sizes) -> bool:
    """Return whether a copy's elements may be computed where they are copied to."""
    target, source = copy.target, copy.source
    return (
        not copy.may_be_same
        and copy.rows is None
        and source.dtype == target.dtype
        and None not in target.axes
        and [*map(sizes.find, source.shape)] == [*map(sizes.find, target.shape)]
    )


def _made_again(step: Step, view: View, tree: list[Compute], result: Buffer) -> list[Compute]:
    """Return computations of what a view shows of the last of some others, into a buffer."""
    made: dict[Compute, Compute] = {}
    for compute in tree:
        buffer = result if compute is tree[-1] else step.temporary(compute.dtype, view.shape)
        operands: list[View | Scalar | Compute] = []
        for operand in compute.operands:
            if isinstance(operand, Compute):
                operands.append(made[operand])
            else:
                operands.append(
                    composed(view, operand, step.sizes) if isinstance(operand, View) else operand
                )
        made[compute] = compute.made_again(buffer, operands)
    return list(made.values())
