"""Which thread computes which elements of a step, and where threads must wait for one another.

The elements of a statement are shared out along one dimension, its columns as a rule, in the
same way wherever sizes are the same: a thread then goes on from a product to the sums over its
columns without waiting. A barrier stands before the first statement that touches what another
thread wrote, or overwrites what another reads, since the barrier before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from theano.link.native.ir.ir import (
    Assign,
    Buffer,
    Combine,
    Copy,
    Gather,
    Gemm,
    Kernel,
    Line,
    Load,
    Map,
    Reduce,
    Scalar,
    Scatter,
    Size,
    Statement,
    View,
)
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes


@dataclass(frozen=True)
class Share:
    """A range of each thread along a dimension.

    Attributes
    ----------
    dimension
        Of the result, or of the source of a reduction.
    unit
        What is not cut: the 'f32' or 'f64' columns of a panel, or single elements, '1'.
    first, end
        The bounds of the range in C.
    """

    dimension: int
    size: Size
    unit: str
    first: str
    end: str


# The other ways: each thread for itself, in its own variables; or the first thread alone.
EVERY, ONE = "every", "one"
Way = Share | str


@dataclass
class Sharing:
    """How the statements of a step are shared out.

    Attributes
    ----------
    ways
        By the position of the statement.
    barriers
        Positions of statements before which all threads meet; the number of statements stands
        for the end of the step.
    """

    ways: list[Way] = field(default_factory=list)
    ranges: dict[tuple[Size, str], int] = field(default_factory=dict)
    barriers: set[int] = field(default_factory=set)

    def share(self, dimension: int, size: Size, unit: str) -> Share:
        number = self.ranges.setdefault((size, unit), len(self.ranges))
        return Share(dimension, size, unit, f"first{number}", f"end{number}")


@dataclass(frozen=True)
class RowRole:
    """A row of a state or trace: whose it is, and where from the row of this step."""

    memory: str
    tap: int
    # two rows as far apart may be one, where the array is used as a ring
    round: int | None


def shared_work(
    statements: list[Statement],
    sizes: Sizes,
    rows: dict[Buffer, RowRole],
    numbers_read: Iterable[RowRole],
    numbers_written: Iterable[RowRole],
) -> Sharing | None:
    """Share out the statements of a step; None if it is for one thread.

    Parameters
    ----------
    rows
        The buffers that the loop moves from row to row.
    numbers_read, numbers_written
        Rows of one number: read before the first statement, written after the last.
    """
    result = Sharing()
    for statement in statements:
        # an error must not leave the other threads waiting
        fails = isinstance(statement, Kernel) and statement.may_fail
        if type(statement) not in _WAYS or fails:
            return None
        result.ways.append(_WAYS[type(statement)](result, sizes, statement))
    if not result.ranges:
        return None
    tracker = _Tracker(sizes, rows)
    accesses = [
        tracker.accesses(statement, way)
        for statement, way in zip(statements, result.ways, strict=True)
    ]
    accesses[:0] = [[Access(role.memory, role, None, (), False) for role in numbers_read]]
    accesses.append([Access(role.memory, role, ONE, (), True) for role in numbers_written])
    laps = 3 + max([role.round or 0 for role in rows.values()], default=0)
    result.barriers = {max(position - 1, 0) for position in _barriers(accesses, sizes, laps)}
    return result


# ---- ways ----


def _by_columns(result: Sharing, sizes: Sizes, shape: tuple[Size, ...], dtype: str) -> Way:
    """Along the last dimension that is not known to be 1."""
    found = [sizes.find(size) for size in shape]
    wide = [d for d, size in enumerate(found) if size != 1]
    if not wide:
        return ONE
    d = wide[-1]
    return result.share(d, found[d], SUFFIX.get(dtype, "f32"))


def _map(result: Sharing, sizes: Sizes, statement: Map) -> Way:
    stored = [compute.dtype for compute in statement.body if compute.stored]
    return _by_columns(result, sizes, statement.shape, (stored or ["float32"])[0])


def _copy(result: Sharing, sizes: Sizes, statement: Copy | Combine) -> Way:
    return _by_columns(result, sizes, statement.target.shape, statement.target.dtype)


def _gemm(result: Sharing, sizes: Sizes, statement: Gemm) -> Way:
    size = sizes.find(statement.out.shape[1])
    return result.share(1, size, SUFFIX[statement.out.dtype])


def _reduce(result: Sharing, sizes: Sizes, statement: Reduce) -> Way:
    if isinstance(statement.target, Scalar):
        return EVERY
    shape = [sizes.find(size) for size in statement.source.shape]
    kept = [d for d in range(len(shape)) if d not in statement.axes and shape[d] != 1]
    if not kept:
        return ONE
    columns = kept[-1] == len(shape) - 1
    unit = SUFFIX.get(statement.target.dtype, "f32") if columns else "1"
    return result.share(kept[-1], shape[kept[-1]], unit)


def _gather(result: Sharing, sizes: Sizes, statement: Gather) -> Way:
    return _by_columns(result, sizes, statement.target.shape, statement.target.dtype)


def _scatter(result: Sharing, sizes: Sizes, statement: Scatter) -> Way:
    # several of the rows may be the same one
    return _by_columns(result, sizes, (1, *statement.target.shape[1:]), statement.target.dtype)


def _every(result: Sharing, sizes: Sizes, statement: Statement) -> Way:
    return EVERY


def _one(result: Sharing, sizes: Sizes, statement: Statement) -> Way:
    return ONE


_WAYS: dict[type, Callable[[Sharing, Sizes, Any], Way]] = {
    Assign: _every,
    Combine: _copy,
    Copy: _copy,
    Gather: _gather,
    Gemm: _gemm,
    Kernel: _one,
    Line: _every,
    Load: _every,
    Map: _map,
    Reduce: _reduce,
    Scatter: _scatter,
}


# ---- what statements touch ----


@dataclass(frozen=True)
class _Axis:
    """What of an axis of a buffer is touched: from where, by which steps, how many."""

    start: Size
    step: int
    count: Size


@dataclass(frozen=True)
class Access:
    """What a statement reads or writes.

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


class _Tracker:
    """Finds what the views of statements touch in the buffers that own the memory."""

    def __init__(self, sizes: Sizes, rows: dict[Buffer, RowRole]):
        self.sizes, self.rows = sizes, rows

    def accesses(self, statement: Statement, way: Way) -> list[Access]:
        return [
            self._access(view, dimension, way, write)
            for view, dimension, write in _touched(statement, way)
            if view.buffer.root().role != "invariant"
        ]

    def _access(self, view: View, dimension: int | None, way: Way, write: bool) -> Access:
        root = view.buffer.root()
        row = self.rows.get(root)
        memory = row.memory if row is not None else root
        mapped = self._in_root(view)
        if mapped is None:
            return Access(memory, row, ONE if way == ONE else None, (), write)
        axes, axis_of = mapped
        owner: Any = None
        if way == ONE:
            owner = ONE
        elif isinstance(way, Share) and dimension is not None:
            axis = axis_of[dimension]
            touched = axes[axis] if axis is not None else None
            if touched is not None and touched.count == way.size:
                owner = (axis, touched.start, touched.step, way.size, way.unit)
        return Access(memory, row, owner, axes, write)

    def _in_root(self, view: View):
        """The axes of the root that a view touches, and which of its dimensions run along which."""
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
            start = f"{outer.start} + {inner.start}"
        return _Axis(start, outer.step * inner.step, inner.count)


def _touched(statement: Statement, way: Way) -> list[tuple[View, int | None, bool]]:
    """The views of a statement, which dimension of each is shared out, whether it is written."""
    d = way.dimension if isinstance(way, Share) else None
    touched: list[tuple[Any, int | None, bool]] = []
    if isinstance(statement, Map):
        for compute in statement.body:
            touched += [(operand, d, False) for operand in compute.operands]
            if compute.stored and compute.buffer is not None:
                touched.append((View.of(compute.buffer), d, True))
    elif isinstance(statement, Copy | Combine):
        touched = [(statement.source, d, False), (statement.target, d, True)]
    elif isinstance(statement, Gemm):
        touched = [
            (statement.a, None, False),
            (statement.b, d, False),
            (statement.out, d, True),
        ]
    elif isinstance(statement, Reduce):
        kept = [k for k in range(statement.source.ndim) if k not in statement.axes]
        touched = [
            (statement.source, d, False),
            (statement.target, kept.index(d) if d in kept else None, True),
        ]
    elif isinstance(statement, Gather | Scatter):
        inner = d or None
        touched = [
            (statement.index, None, False),
            (statement.source, inner, False),
            (statement.target, d, True),
        ]
    elif isinstance(statement, Kernel):
        touched = [(view, None, False) for view in statement.reads]
        touched += [(view, None, True) for view in statement.writes]
    elif isinstance(statement, Load):
        touched = [(statement.view, None, False)]
    return [entry for entry in touched if isinstance(entry[0], View)]


# ---- barriers ----


def _barriers(accesses: list[list[Access]], sizes: Sizes, laps: int) -> set[int]:
    """Before which of the statements a barrier stands, also where the loop begins again."""
    barriers: set[int] = set()
    while True:
        found = _first_conflict(accesses, sizes, laps, barriers)
        if found is None:
            return barriers
        barriers.add(found)


def _first_conflict(
    accesses: list[list[Access]], sizes: Sizes, laps: int, barriers: set[int]
) -> int | None:
    since: list[tuple[int, Access]] = []
    for lap in range(laps):
        for position, group in enumerate(accesses):
            if position in barriers:
                since = []
            for access in group:
                for earlier_lap, earlier in since:
                    if _conflict(access, lap, earlier, earlier_lap, sizes):
                        return position
            since += [(lap, access) for access in group]
    return None


def _conflict(a: Access, lap: int, b: Access, earlier_lap: int, sizes: Sizes) -> bool:
    """Whether one thread may touch what another touches, and one of the two writes."""
    if not (a.write or b.write) or a.memory != b.memory:
        return False
    if a.row is not None and b.row is not None:
        apart = abs((lap + a.row.tap) - (earlier_lap + b.row.tap))
        if apart and (a.row.round is None or apart < a.row.round):
            return False
    if a.owner is not None and a.owner == b.owner:
        return False
    return not any(
        x is not None and y is not None and (_before(x, y, sizes) or _before(y, x, sizes))
        for x, y in zip(a.axes, b.axes, strict=False)
    )


def _before(low: _Axis, high: _Axis, sizes: Sizes) -> bool:
    """Whether it is certain that all of one lies before all of the other."""
    if low.step != 1 or high.step != 1:
        return False
    end = sizes.known_sum(low.start, low.count)
    return end is not None and sizes.not_before(high.start, end)
