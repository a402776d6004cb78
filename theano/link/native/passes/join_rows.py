"""Passes over rows that follow one another are done row by row, where one reads what another makes.

Check: maps and reductions of arrays with the same first dimension, of which none reads a row that
another one writes under another number, and no detour from one to another. Transformation: they
become one statement; what stands between them and can be done before is done before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dependence import Dependence
from theano.link.native.statements.base import Statement
from theano.link.native.statements.row_by_row import RowByRow
from theano.support.data_classes import dataclass

# Elements that lie in the second cache anyway, and rows of which each thread should have some.
FEWEST_ELEMENTS = 2**15
FEWEST_ROWS = 16
# How many statements after the first of a group are looked at: long programs have thousands.
LOOKS_AHEAD = 24


def join_rows(segment: Segment) -> None:
    """Join passes over the rows of large arrays outside loops; positions change."""
    step, dependence = segment.step, Dependence(segment)
    overwriting = {output.buffer for output in segment.outputs if output.overwrites is not None}
    rows = {one: _rows_of(one, step.sizes) for one in step.statements}
    position = 0
    while position < len(step.statements):
        near = step.statements[position : position + LOOKS_AHEAD]
        group = _group(near, rows, step.sizes, overwriting, dependence)
        if len(group.members) > 1:
            joined = RowByRow(group.members, _largest(group.members))
            step.origins[joined] = step.origins.get(group.members[0])
            ordered = [*group.before, joined, *group.after]
            step.statements[position : position + group.length] = ordered
            rows[joined] = None
            position += len(group.before)
        position += 1


@dataclass
class _Group:
    """Statements that are done row by row.

    Attributes
    ----------
    before, after
        What stands between them, by whether it can be done before the first of them.
    length
        How many statements these are together, from the first to the last of the group.
    """

    members: list[Statement] = field(default_factory=list)
    before: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)
    length: int = 0


@dataclass(frozen=True)
class _Rows:
    """The work of a statement that is done row by row.

    Attributes
    ----------
    count
        How many rows.
    arrays
        The memory of which it reads or writes more than one element of a row.
    """

    count: Size
    arrays: frozenset[Buffer]

    def go_on_with(self, earlier: _Rows | None) -> bool:
        """Return whether these are the rows of another statement, of which something is in the cache."""
        return (
            earlier is not None
            and self.count == earlier.count
            and not self.arrays.isdisjoint(earlier.arrays)
        )


def _group(
    statements: list[Statement],
    rows: Mapping[Statement, _Rows | None],
    sizes: Sizes,
    overwriting: set[Buffer],
    dependence: Dependence,
) -> _Group:
    """Return the group of the first of some statements; without members if it is not done row by row."""
    group = _Group()
    members, rest = statements[:1], statements[1:]
    mine = rows[members[0]]
    if mine is None or not any(
        of is not None and of.go_on_with(mine) for of in map(rows.get, rest)
    ):
        return group
    before: list[Statement] = []
    after: list[Statement] = []
    for k, statement in enumerate(rest, 1):
        if statement.memory_written() & overwriting:
            # from where on nothing may fail
            break
        of = rows[statement]
        follows = of is not None and any(of.go_on_with(rows[one]) for one in members)
        depends = dependence.any_ordered(members, statement)
        if (
            (follows or (depends and of is not None and of.count == mine.count))
            and _keep_to_rows([*members, statement], mine.count, sizes, overwriting)
            and not dependence.any_ordered(after, statement)
        ):
            members.append(statement)
            if follows:
                # what else depends on the group belongs to it only where it leads back
                group = _Group(list(members), list(before), list(after), k + 1)
        elif depends or dependence.any_ordered(after, statement):
            after.append(statement)
        else:
            before.append(statement)
    return group


def _largest(members: Iterable[Statement]) -> tuple[Size, ...]:
    return max((one.row_by_row() or () for one in members), key=len)


def _rows_of(statement: Statement, sizes: Sizes) -> _Rows | None:
    """Return the rows of a statement of large arrays that can be done row by row."""
    shape = [sizes.find(size) for size in statement.row_by_row() or ()]
    if not shape or (isinstance(shape[0], int) and shape[0] < FEWEST_ROWS):
        return None
    if sizes.known_below(shape, FEWEST_ELEMENTS):
        return None
    wide = frozenset(view.buffer.root() for view in _views(statement) if _is_wide(view))
    return _Rows(shape[0], wide)


def _is_wide(view: View) -> bool:
    return any(
        axis is not None and size != 1
        for axis, size in zip(view.axes, view.shape, strict=True)
        if axis
    )


def _views(statement: Statement) -> list[View]:
    return [*statement.views(), *(View.of(buffer) for buffer in statement.written())]


def _keep_to_rows(
    members: list[Statement], rows: Size, sizes: Sizes, overwriting: set[Buffer]
) -> bool:
    """Return whether each touches, of what any of them writes, only rows under its own numbers."""
    written = {buffer.root() for one in members for buffer in one.written()}
    if written & overwriting or any(root.role == "invariant" for root in written):
        return False
    return all(
        _by_rows(view, rows, sizes)
        for one in members
        for view in _views(one)
        if view.buffer.root() in written
    )


def _by_rows(view: View, rows: Size, sizes: Sizes) -> bool:
    """Return whether the first dimension of a view runs along the rows of the memory that it is of."""
    while True:
        if not view.axes or view.axes[0] != 0 or view.steps[0] != 1 or view.start[0] != 0:
            return False
        if 0 in view.axes[1:] or sizes.find(view.buffer.shape[0]) != rows:
            return False
        if view.buffer.source is not None:
            return False
        if view.buffer.place is None:
            return True
        view = view.buffer.place
