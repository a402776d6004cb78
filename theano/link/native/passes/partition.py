"""The partition of a step's elements among threads, and the barriers where threads wait for one another.

The elements of a statement are shared out along one dimension, its columns as a rule, in the
same way wherever sizes are the same: a thread then goes on from a product to the sums over its
columns without waiting. Or threads share the rows of a batch, where it has enough of them. A barrier
stands before the first statement that touches what another thread wrote, or overwrites what another
reads, since the barrier before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from theano.link.native.ir.ir import Argument, Buffer, Scalar, Size, View
from theano.link.native.ir.partitions import ONE, Partition, Rectangle, Serial, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import sum_of
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.step_time import known_nanoseconds
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.step_blocks import StepBlocks
from theano.support.data_classes import dataclass

# nanoseconds of a step, far below what the runtime shares among threads (LEAST_WORK of threads.c)
WORTH_SHARING = 500.0
# nanoseconds of a statement of a segment: what the runtime shares takes longer (WORTH_WAKING of threads.c)
STATEMENT_WORTH_SHARING = 20_000.0
# rows of which each of two threads has so many that its products are as fast as by columns
FEWEST_ROWS = 16


@dataclass(frozen=True)
class RowRole:
    """A row of a state or trace: whose it is, and where from the row of this step."""

    memory: str
    tap: int
    # two rows as far apart may be one, where the array is used as a ring
    round: int | None


def partition_work(loop: Loop) -> None:
    """Record which thread does what of each statement of a loop's step, and where all of them wait for one another."""
    loop.sharing = _shared_work(loop.step.statements, loop.step.sizes, _rows_of(loop))


def barriers_with_rows(loop: Loop, partitions: list[Partition], rows: Iterable[Buffer]) -> set[int]:
    """Return where threads wait for one another if temporaries have rows for two steps, used by turns.

    Parameters
    ----------
    partitions
        What a thread does of each statement.
    rows
        The temporaries that have.
    """
    roles = _rows_of(loop)
    own = {row: RowRole(f"rows of {row.name}", 0, 2) for row in rows}
    more = Rows({**roles.of, **own}, roles.numbers_read, roles.numbers_written)
    return _Barriers(loop.step.statements, loop.step.sizes, more).before(partitions)


@dataclass(frozen=True)
class Rows:
    """The rows that a step touches.

    Attributes
    ----------
    of
        By the buffers that the loop moves from row to row.
    numbers_read, numbers_written
        Rows of one number: read before the first statement, written after the last.
    """

    of: dict[Buffer, RowRole]
    numbers_read: list[RowRole]
    numbers_written: list[RowRole]


def _rows_of(loop: Loop) -> Rows:
    of = {row: _role(a, tap) for row, a, tap in loop.rows if isinstance(row, Buffer)}
    of |= {w.row: _role(w.argument, w.tap) for w in loop.writes if w.row is not None}
    read = [_role(a, tap) for row, a, tap in loop.rows if isinstance(row, Scalar)]
    written = [_role(w.argument, w.tap) for w in loop.writes if w.row is None]
    return Rows(of, read, written)


def partition_statements(segment: Segment) -> None:
    """Record what each of several threads does of those statements of a segment that take long.

    There, unlike in loops, threads part after each statement.
    """
    sizes = segment.step.sizes
    for statement in chain.from_iterable(map(_shared_alone, segment.step.statements)):
        takes = known_nanoseconds([statement], sizes)
        if takes is None or takes >= STATEMENT_WORTH_SHARING:
            part = statement.part_of_thread(sizes)
            if part is not None:
                segment.parts[statement] = part


def _shared_alone(statement: Statement) -> list[Statement]:
    blocks = as_kind(statement, StepBlocks)
    return [statement] if blocks is None else blocks.parts


def _role(argument: Argument, tap: int) -> RowRole:
    if argument.in_place:
        return RowRole(argument.name, tap, 1)
    rounds = {"ring": argument.history + 1, "untraced": argument.history + 1, "trace": 1}
    return RowRole(argument.name, tap, rounds.get(argument.kind))


class _Barriers:
    """Finds before which statements of a step threads wait for one another."""

    def __init__(self, statements: list[Statement], sizes: Sizes, rows: Rows):
        self.statements, self.sizes = statements, sizes
        self.tracker = Tracker(sizes, rows.of)
        read, written = rows.numbers_read, rows.numbers_written
        self.read = [Access(role.memory, role, None, (), False) for role in read]
        self.written = [Access(role.memory, role, ONE, (), True) for role in written]
        self.iterations = 3 + max([role.round or 0 for role in rows.of.values()], default=0)

    def before(self, partitions: list[Partition]) -> set[int]:
        """Return the positions of the statements, for a partition of each."""
        touched = zip(self.statements, partitions, strict=True)
        return self.between([self.tracker.accesses(*pair) for pair in touched])

    def between(self, accesses: list[list[Access]]) -> set[int]:
        """Return the positions of the statements, for what each of them touches."""
        found = _barriers([self.read, *accesses, self.written], self.sizes, self.iterations)
        return {max(position - 1, 0) for position in found}


def _shared_work(statements: list[Statement], sizes: Sizes, rows: Rows) -> Sharing | Serial:
    """Share out the statements of a step, unless it is for one thread."""
    takes = known_nanoseconds(statements, sizes)
    if takes is not None and takes < WORTH_SHARING:
        return Serial("its step takes less time than it takes to share it")
    products = [one for one in statements if one.packed_operand() is not None]
    written = [one for statement in products for one in statement.values_written()]
    result = _parted(statements, sizes, _rows_in_common(written, sizes))
    if isinstance(result, Serial):
        return result
    if not result.ranges:
        return Serial("nothing in it has more than one element")
    barriers = _Barriers(statements, sizes, rows)
    result.barriers = barriers.before(result.partitions)
    if _only_reads_and_writes(statements):
        result.in_pieces = _columns_of_rows(result.partitions, statements, sizes)
    if not products:
        return _by_rows_without_more_barriers(statements, sizes, result, barriers.before)
    if result.rows is not None:
        by_rows = [_by_rows(partition, result.rows) for partition in result.partitions]
        result.barriers_by_rows = barriers.before(by_rows)
        groups = barriers.tracker.of_both(statements, result.partitions, by_rows)
        if groups is not None:
            found = barriers.between(groups)
            result.barriers_by_both = found | result.barriers | result.barriers_by_rows
    return result


def _parted(statements: list[Statement], sizes: Sizes, rows: Size | None) -> Sharing | Serial:
    """Return what of each statement a thread does, or why there is one thread."""
    result = Sharing(rows)
    for statement in statements:
        partition = statement.partition(result, sizes)
        if isinstance(partition, Serial):
            return partition
        result.partitions.append(partition)
    return result


def _by_rows_without_more_barriers(
    statements: list[Statement],
    sizes: Sizes,
    by_columns: Sharing,
    barriers: Callable[[list[Partition]], set[int]],
) -> Sharing:
    """Return the partition of a batch by rows next to that by columns, where threads wait for one another no more often then.

    What is joined, reversed, moved or added up within each row of a batch needs no other row. Nor do
    threads read lines of memory by turns then: two took twice as long for half the columns each as one for all.
    """
    passes = [one for one in statements if one.row_by_row() is not None]
    materialized = [buffer for one in passes for buffer in one.results()]
    wide = [one for one in materialized if len(one.shape) == 2 and sizes.find(one.shape[1]) != 1]
    either = _parted(statements, sizes, _rows_in_common(wide, sizes))
    if isinstance(either, Serial) or either.rows is None:
        return by_columns
    rows = either.rows
    either.barriers, either.in_pieces = by_columns.barriers, by_columns.in_pieces
    partitions = [_by_rows(one, rows) for one in either.partitions]
    if by_columns.in_pieces and _columns_of_rows(partitions, statements, sizes):
        return by_columns
    either.barriers_by_rows = barriers(partitions)
    return either if len(either.barriers_by_rows) <= len(either.barriers) else by_columns


def _only_reads_and_writes(statements: list[Statement]) -> bool:
    """Return whether arithmetic is all that is done with elements, which takes no longer than to read them."""
    computed = [compute for one in statements for compute in one.elementwise()]
    return not any(one.leaves_work for one in statements) and not any(
        compute.operation.function for compute in computed
    )


def _columns_of_rows(
    partitions: list[Partition], statements: list[Statement], sizes: Sizes
) -> set[Size]:
    """Return how many columns there are of which threads share those of each of several rows."""
    found: set[Size] = set()
    for partition, statement in zip(partitions, statements, strict=True):
        if not isinstance(partition, Share):
            continue
        for touch in statement.touches(partition):
            wide = [d for d, size in enumerate(touch.view.shape) if sizes.find(size) != 1]
            if len(wide) > 1 and wide[-1] == touch.dimension:
                found.add(sizes.find(partition.size))
    return found


def _rows_in_common(materialized: Iterable[Any], sizes: Sizes) -> Size | None:
    """Return how many rows all of these have, if threads may share them; else None."""
    rows = {sizes.find(one.shape[0]) for one in materialized}
    if len(rows) != 1:
        return None
    (count,) = rows
    return None if isinstance(count, int) and count < FEWEST_ROWS else count


def _by_rows(partition: Partition, rows: Size) -> Partition:
    """Return what a thread does of a statement where rows are shared."""
    return Share(0, rows, "1", "top", "bottom") if isinstance(partition, Rectangle) else partition


# ---- what statements touch ----


@dataclass(frozen=True)
class _Axis:
    """The part of an axis of a buffer that is touched: from where, by which steps, how many."""

    start: Size
    step: int
    count: Size


@dataclass(frozen=True)
class Access:
    """A read or a write of a statement.

    Attributes
    ----------
    owner
        Which thread touches which of the elements: a range along an axis, ONE, or None where any
        thread may touch any.
    """

    memory: Any
    row: RowRole | None
    owner: Any
    axes: tuple[_Axis | None, ...]
    write: bool


class Tracker:
    """Finds what the views of statements touch in the buffers that own the memory."""

    def __init__(self, sizes: Sizes, rows: dict[Buffer, RowRole]):
        self.sizes, self.rows = sizes, rows

    def accesses(self, statement: Statement, partition: Partition) -> list[Access]:
        return [
            self._access(touch.view, touch.dimension, partition, touch.write)
            for touch in statement.touches(partition if isinstance(partition, Share) else None)
            if touch.view.buffer.root().role != "invariant"
        ]

    def of_both(
        self,
        statements: list[Statement],
        by_columns: list[Partition],
        by_rows: list[Partition],
    ) -> list[list[Access]] | None:
        """Return what is touched where threads share rows and columns; None where they cannot.

        An element is a thread's own where it is so by columns and by rows.
        """
        found = []
        for statement, partition, other in zip(statements, by_columns, by_rows, strict=True):
            accesses = self.accesses(statement, partition)
            if isinstance(partition, Rectangle):
                rows = self.accesses(statement, other)
                if len(rows) != len(accesses):
                    return None
                accesses = [
                    replace(a, owner=None if None in (a.owner, b.owner) else (a.owner, b.owner))
                    for a, b in zip(accesses, rows, strict=True)
                ]
                if any(access.write and access.owner is None for access in accesses):
                    return None
            found.append(accesses)
        return found

    def _access(
        self, view: View, dimension: int | None, partition: Partition, write: bool
    ) -> Access:
        root = view.buffer.root()
        row = self.rows.get(root)
        memory = row.memory if row is not None else root
        mapped = self._in_root(view)
        if mapped is None:
            return Access(memory, row, ONE if partition == ONE else None, (), write)
        axes, axis_of = mapped
        owner: Any = None
        if partition == ONE:
            owner = ONE
        elif isinstance(partition, Share) and dimension is not None:
            axis = axis_of[dimension]
            touched = axes[axis] if axis is not None else None
            if touched is not None and touched.count == partition.size:
                owner = (axis, touched.start, touched.step, partition.size, partition.unit)
        return Access(memory, row, owner, axes, write)

    def _in_root(self, view: View):
        """Return the axes of the root that a view touches, and which of its dimensions run along which."""
        buffer = view.buffer
        if buffer.source is not None:
            alias = buffer.source
            if not alias.whole or alias.shape != buffer.shape:
                return None
            return self._in_root(View(alias.buffer, view.shape, view.axes, view.steps, view.start))
        axes: list[_Axis | None] = [_Axis(start, 1, 1) for start in view.start]
        for d, axis in enumerate(view.axes):
            if axis is not None:
                size = self.sizes.find(view.shape[d])
                axes[axis] = _Axis(view.start[axis], view.steps[d], size)
        if buffer.place is None:
            return tuple(axes), view.axes
        outer = self._in_root(buffer.place)
        if outer is None:
            return None
        outer_axes, axis_of = list(outer[0]), outer[1]
        for inner, axis in zip(axes, axis_of, strict=True):
            if axis is not None and inner is not None:
                outer_axes[axis] = self._inside(outer_axes[axis], inner)
        return tuple(outer_axes), tuple(axis_of[a] if a is not None else None for a in view.axes)

    def _inside(self, outer: _Axis | None, inner: _Axis) -> _Axis | None:
        if outer is None or (outer.step != 1 and inner.start != 0):
            return None
        start = inner.start if outer.start == 0 else outer.start
        if outer.start != 0 and inner.start != 0:
            start = sum_of(outer.start, inner.start)
        return _Axis(start, outer.step * inner.step, inner.count)


# ---- barriers ----


def _barriers(accesses: list[list[Access]], sizes: Sizes, iterations: int) -> set[int]:
    """Before which of the statements a barrier stands, also where the loop begins again.

    A barrier that a later iteration asks for stands in the iterations before, too, where it can only have
    parted what did not conflict: one walk finds all of them.
    """
    written = {access.memory for group in accesses for access in group if access.write}
    counted = [[access for access in group if access.memory in written] for group in accesses]
    barriers: set[int] = set()
    since = _Since(sizes)
    for iteration in range(iterations):
        for position, group in enumerate(counted):
            if position in barriers or any(since.conflicts(access, iteration) for access in group):
                barriers.add(position)
                since = _Since(sizes)
            for access in group:
                since.add(access, iteration)
    return barriers


class _Since:
    """Accesses since the last barrier, by memory: the writes, and the reads."""

    def __init__(self, sizes: Sizes):
        self.sizes = sizes
        self._writes: dict[Any, dict[tuple[int, int], tuple[int, Access]]] = defaultdict(dict)
        self._reads: dict[Any, dict[tuple[int, int], tuple[int, Access]]] = defaultdict(dict)

    def add(self, access: Access, iteration: int) -> None:
        """Note what an iteration touches; what is no row is the same in all of them."""
        touched = self._writes if access.write else self._reads
        touched[access.memory][id(access), iteration if access.row else 0] = iteration, access

    def conflicts(self, access: Access, iteration: int) -> bool:
        """Return whether what an iteration touches was touched by another thread, and one of the two writes."""
        reads = self._reads[access.memory].values() if access.write else ()
        return any(
            _conflict(access, iteration, earlier, earlier_iteration, self.sizes)
            for earlier_iteration, earlier in chain(self._writes[access.memory].values(), reads)
        )


def _conflict(a: Access, iteration: int, b: Access, earlier_iteration: int, sizes: Sizes) -> bool:
    """Return whether one thread may touch what another touches in the same memory."""
    if a.row is not None and b.row is not None:
        apart = abs((iteration + a.row.tap) - (earlier_iteration + b.row.tap))
        if apart and (a.row.round is None or apart < a.row.round):
            return False
    if a.owner is not None and a.owner == b.owner:
        return False
    return not any(
        x is not None and y is not None and (_before(x, y, sizes) or _before(y, x, sizes))
        for x, y in zip(a.axes, b.axes, strict=False)
    )


def _before(low: _Axis, high: _Axis, sizes: Sizes) -> bool:
    """Return whether it is certain that all of one lies before all of the other."""
    if low.step != 1 or high.step != 1:
        return False
    end = sizes.known_sum(low.start, low.count)
    return end is not None and sizes.not_before(high.start, end)
