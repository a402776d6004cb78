"""Arrays of short rows whose rows are reduced become an array for each column.

The terms of a mixture, or the classes of a softmax, lie in rows of two or three elements. A pass over rows fills no
vector, and a reduction of rows ends each pass. By columns the elements of vectors are neighbours, a reduction of rows is
arithmetic on columns, and what reads the reduction is done in the same pass. Check: maps compute the arrays,
and nothing reads them but maps of the same rows, reductions, and who reads one column; some reduction is of
rows. Transformation: maps over columns, whose operands are columns, too.
"""

from __future__ import annotations

from collections import defaultdict

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP, Step
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.results_of_maps import computed, result_in
from theano.link.native.passes.short_reductions import LONGEST, OPERATIONS
from theano.link.native.passes.slice_maps import work_of
from theano.link.native.passes.views_of_views import begins_before_statements, of_dimensions
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# Of fewer rows there is nothing to gain.
_FEWEST_ROWS = 64

# the statements that read or write a memory, with the view by which they do
_Uses = dict[Buffer, list[tuple[Statement, View]]]


def put_columns_apart(segment: Segment) -> None:
    """Have maps compute columns of arrays whose short rows are reduced; positions change."""
    step = segment.step
    maps = {one for one in of_kind(step.statements, Map) if _has_short_rows(one, step.sizes)}
    reductions = [one for one in of_kind(step.statements, Reduce) if _of_rows(one)]
    if not maps or not reductions:
        return
    uses: _Uses = defaultdict(list)
    writers: dict[Buffer, list[Statement]] = defaultdict(list)
    for statement in step.statements:
        for view in statement.views():
            uses[view.buffer.root()].append((statement, view))
        for buffer in statement.written():
            writers[buffer.root()].append(statement)
    kept = {buffer.root() for buffer in returned_buffers(segment)}
    left = maps
    while left:
        left = {
            one
            for one in maps
            for buffer in one.written()
            if buffer in kept
            or writers[buffer.root()] != [one]
            or not _may_be_apart(buffer, uses[buffer.root()], maps, step.sizes)
        }
        maps -= left
    maps = _connected(maps, reductions, uses)
    columns: dict[Buffer, list[Buffer]] = {}
    made: list[Statement] = []
    if not maps:
        return
    for statement in step.statements:
        new = _by_columns(step, statement, maps, columns)
        for one in new:
            if one is not statement:
                step.origins[one] = step.origins.get(statement)
        made += new
    step.statements = made


def _has_short_rows(statement: Map, sizes: Sizes) -> bool:
    *rows, row = map(sizes.find, statement.shape or (0,))
    if not rows or not isinstance(row, int) or not 1 <= row <= LONGEST:
        return False
    if (
        sizes.known_below(tuple(rows), _FEWEST_ROWS)
        or work_of(statement.body) * row > MOST_IN_A_MAP
    ):
        return False
    views = [view for view in statement.values_read() if isinstance(view, View)]
    return all(begins_before_statements(view, sizes) for view in views)


def _of_rows(statement: Reduce) -> bool:
    return statement.source.ndim - 1 in statement.axes


def _may_be_apart(
    buffer: Buffer, uses: list[tuple[Statement, View]], maps: set[Map], sizes: Sizes
) -> bool:
    """Return whether whatever reads a map's result may read its columns."""
    if buffer.role != "temporary" or buffer.root() is not buffer:
        return False
    return all(
        view.buffer is buffer
        and view.steps.count(0) == 0
        and _reads_columns(reader, view, maps, sizes)
        for reader, view in uses
    )


def _reads_columns(reader: Statement, view: View, maps: set[Map], sizes: Sizes) -> bool:
    last = len(view.buffer.shape) - 1
    if not isinstance(view.start[last], int):
        return False
    if last not in view.axes:
        # one column
        return True
    if as_kind(reader, Map) is not None:
        return reader in maps and view.axes.index(last) == view.ndim - 1
    reduction = as_kind(reader, Reduce)
    if reduction is None or not _is_whole(view, sizes):
        return False
    if not _of_rows(reduction):
        target = reduction.target
        return isinstance(target, View) and target.axes[-1] is not None
    types = {view.dtype, reduction.dtype, reduction.target.dtype}
    if reduction.operation not in OPERATIONS or len(types) > 1 or types == {"bool"}:
        return False
    return isinstance(reduction.target, Scalar) or None not in reduction.target.axes


def _is_whole(view: View, sizes: Sizes) -> bool:
    shapes = [[*map(sizes.find, shape)] for shape in (view.shape, view.buffer.shape)]
    return (
        view.axes == tuple(range(view.ndim))
        and {*view.steps} == {1}
        and {*view.start} == {0}
        and shapes[0] == shapes[1]
    )


def _connected(maps: set[Map], reductions: list[Reduce], uses: _Uses) -> set[Map]:
    """Return the maps that compute what is reduced along rows, and all that read or make what others of them do."""
    made_by = {buffer: one for one in maps for buffer in one.written()}
    near: dict[Map, set[Map]] = defaultdict(set)
    for buffer, one in made_by.items():
        for reader, _ in uses[buffer]:
            other = as_kind(reader, Map)
            if other in maps and other is not None:
                near[one].add(other)
                near[other].add(one)
    pending = [made_by[r.source.buffer] for r in reductions if r.source.buffer in made_by]
    found: set[Map] = set()
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += near[one]
    return found


def _by_columns(
    step: Step, statement: Statement, maps: set[Map], columns: dict[Buffer, list[Buffer]]
) -> list[Statement]:
    """Return what a statement becomes; what is computed by columns is added to them."""
    own = as_kind(statement, Map)
    if own is not None and own in maps:
        return [_map_of_columns(step, own, columns)]
    reduction = as_kind(statement, Reduce)
    if reduction is not None and reduction.source.buffer in columns:
        last = len(reduction.source.buffer.shape) - 1
        if last in reduction.source.axes:
            parts = columns[reduction.source.buffer]
            reduce = _reduced_rows if _of_rows(reduction) else _reduced_columns
            return reduce(step, reduction, parts)
    read = [view for view in statement.views() if view.buffer in columns]
    statement.replace_views({id(view): _one_column(view, columns) for view in read})
    return [statement]


def _map_of_columns(step: Step, statement: Map, columns: dict[Buffer, list[Buffer]]) -> Map:
    """Return the map over rows that computes all columns."""
    *rows, row = statement.shape
    size = step.sizes.find(row)
    assert isinstance(size, int)
    body: list[Compute] = []
    for column in range(size):
        made: dict[Compute, Compute] = {}
        for compute in statement.body:
            operands: list[View | Scalar | Compute] = []
            for one in compute.operands:
                if isinstance(one, Compute):
                    operands.append(made[one])
                elif isinstance(one, View):
                    operands.append(_column(_of_column(one, column, step.sizes), columns))
                else:
                    operands.append(one)
            result = step.temporary(compute.dtype, rows)
            made[compute] = compute.made_again(result, operands)
            if compute.buffer is not None:
                columns.setdefault(compute.buffer, []).append(result)
        body += made.values()
    return Map(tuple(rows), body)


def _of_column(view: View, column: int, sizes: Sizes) -> View:
    """Return a column of a view's elements, along its last dimension."""
    start: list[Size] = list(view.start)
    axis = view.axes[-1]
    if axis is not None and column:
        start[axis] = sizes.binary(start[axis], "+", column * view.steps[-1])
    return of_dimensions(view, range(view.ndim - 1), tuple(start))


def _column(view: View, columns: dict[Buffer, list[Buffer]]) -> View:
    return _one_column(view, columns) if view.buffer in columns else view


def _one_column(view: View, columns: dict[Buffer, list[Buffer]]) -> View:
    """Return a view of one column of an array as a view of what is that column now."""
    *start, column = view.start
    assert isinstance(column, int) and len(start) not in view.axes
    return View(columns[view.buffer][column], view.shape, view.axes, view.steps, tuple(start))


def _reduced_columns(step: Step, statement: Reduce, parts: list[Buffer]) -> list[Statement]:
    """Return the reductions of columns, each to one element of rows, or to a number that is put there."""
    target = statement.target
    assert isinstance(target, View)
    operation, axes, dtype = statement.operation, statement.axes, statement.dtype
    reductions: list[Statement] = []
    copies: list[Statement] = []
    for column, part in enumerate(parts):
        made: View | Scalar
        made = place = _of_column(target, column, step.sizes)
        if not place.ndim:
            made = step.number(target.dtype)
            copies.append(Copy(place, made))
        reductions.append(Reduce(operation, View.of(part), axes, made, dtype))
    return [*reductions, *copies]


def _reduced_rows(step: Step, statement: Reduce, parts: list[Buffer]) -> list[Statement]:
    """Return a map that combines columns, and what reduces the result along other axes, if anything does."""
    first, *others = parts
    target, dtype = statement.target, statement.dtype
    axes = tuple(axis for axis in statement.axes if axis < statement.source.ndim - 1)
    ends = target if not axes and isinstance(target, View) else None
    if not others and ends is not None:
        return [Copy(ends, View.of(first))]
    if not others:
        return [Reduce(statement.operation, View.of(first), axes, target, dtype)]
    combine = expression_of(OPERATIONS[statement.operation], [dtype, dtype], dtype)
    so_far: View | Compute = View.of(first)
    body: list[Compute] = []
    for part in others:
        end = ends if part is others[-1] else None
        result = step.temporary(dtype, first.shape) if end is None else result_in(step, end)
        so_far = computed(result, combine, [so_far, View.of(part)])
        body.append(so_far)
    combined = Map(first.shape, body)
    if ends is not None:
        return [combined]
    return [combined, Reduce(statement.operation, View.of(result), axes, target, dtype)]
