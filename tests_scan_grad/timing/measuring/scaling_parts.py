"""Parts of the model of many cores: a function's statements, their partition and their times."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tests_scan_grad.timing.measuring.core_prices import Prices
from tests_scan_grad.timing.measuring.scaling_model import Number, Part, Region, alone, none
from theano.link.native.ir.ir import View
from theano.link.native.ir.partitions import EVERY, Rectangle, Serial, Share, Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.runtime.load import library
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.call_loop import CallLoop
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.step_blocks import StepBlocks

# What stays in a core's own caches until it is touched again.
BYTES_OF_A_CORE = 1 << 20
# Of threads.c, gemm.c: nanoseconds and multiply-adds that a thread must have to do.
LEAST_WORK, ENOUGH_WORK, WORK_OF_A_BARRIER = 700.0, 4000.0, 12.0
WORTH_WAKING, WORTH_A_THREAD = 20_000.0, 500_000.0


@dataclass(frozen=True)
class Counted:
    """Costs of a statement on one thread in a call of the function."""

    text: str
    seconds: float
    times: float
    operations: float
    nbytes: float


@dataclass(frozen=True)
class Measured:
    """A C function: what was lowered, what its statements took, in order, and its sizes.

    Parameters
    ----------
    other
        The seconds of a call that no statement took: packing, and what is between steps.
    """

    lowered: Loop | Segment
    counted: Sequence[Counted]
    sizes: Mapping[Any, int]
    other: float = 0.0

    def number(self, size: Any) -> int | None:
        """Return the value of a size, if it is known."""
        found = self.lowered.step.sizes.find(size)
        return found if isinstance(found, int) else self.sizes.get(found)


def regions(functions: Mapping[str, Measured], prices: Prices) -> Iterator[Region]:
    """Yield what threads do together in a function, loops and single statements."""
    for one in functions.values():
        if isinstance(one.lowered, Loop):
            yield _loop(one, prices)
            continue
        for statement, counted in zip(_statements(one.lowered), one.counted, strict=True):
            # the loops that are called are functions, too
            if as_kind(statement, CallLoop) is None:
                yield _alone(one, statement, counted)


def _statements(lowered: Loop | Segment) -> list[Statement]:
    """Return the statements that are counted one by one."""
    found: list[Statement] = []
    for statement in lowered.step.statements:
        blocks = as_kind(statement, StepBlocks)
        found += [statement] if blocks is None else blocks.parts
    return [one for one in found if not one.only_numbers]


def width(dtype: str) -> int:
    """Return how many columns a panel has."""
    function = getattr(library(), f"tn_panel_width_{dtype}")
    function.restype = ctypes.c_int64
    return function()


def largest_of(size: int, unit: int, threads: int) -> float:
    """Return the largest part of a size whose units are dealt out in ranges."""
    units = math.ceil(size / unit)
    ends = [min(units * t // threads * unit, size) for t in range(threads + 1)]
    return max(end - first for first, end in pairwise(ends)) / max(1, size)


# ---- loops ----


def _loop(one: Measured, prices: Prices) -> Region:
    loop, sharing = one.lowered, one.lowered.sharing
    steps = max((counted.times for counted in one.counted), default=0.0)
    others = [Part("packing and the rest", one.other, lambda n: 1 / n, "")] if one.other else []
    if not isinstance(sharing, Sharing):
        why = sharing.reason if isinstance(sharing, Serial) else ""
        parts = [Part(c.text, c.seconds, alone, why) for c in one.counted]
        return Region(loop.name, [*parts, *others], lambda n: 1, none)
    groups = partial(row_groups, one, sharing)
    parts = [
        _part_of_loop(one, statement, partition, counted, groups)
        for statement, partition, counted in _with_partitions(one, sharing)
    ]
    seconds = sum(part.seconds for part in parts) / max(1.0, steps)
    barriers = partial(_barriers, sharing, groups)
    # a loop whose threads need not wait has two, at its begin and its end
    return Region(
        loop.name,
        [*parts, *others],
        partial(_threads_of_loop, seconds, barriers, prices),
        lambda n: 2 + steps * barriers(n),
    )


def _with_partitions(one: Measured, sharing: Sharing) -> Iterator[tuple[Statement, Any, Counted]]:
    pairs = zip(one.lowered.step.statements, sharing.partitions, strict=True)
    kept = [(statement, partition) for statement, partition in pairs if not statement.only_numbers]
    for (statement, partition), counted in zip(kept, one.counted, strict=True):
        yield statement, partition, counted


def _barriers(sharing: Sharing, groups: Number, threads: int) -> int:
    """Return how many barriers a step has."""
    down = groups(threads)
    if down in (1, threads):
        return len(sharing.barriers if down == 1 else sharing.barriers_by_rows)
    return len(sharing.barriers_by_both or ())


def row_groups(one: Measured, sharing: Sharing, threads: int) -> int:
    """Return into how many groups the rows are cut; the threads of one share its columns."""
    rows = None if sharing.rows is None else one.number(sharing.rows)
    if rows is None or threads == 1:
        return 1
    packed = one.lowered.step.packed
    if not packed:
        return threads if rows >= 4 * threads else 1
    sizes = [[one.number(size) or 0 for size in view.shape] for view in packed]
    nbytes = sum(
        np.dtype(view.dtype).itemsize * k * n for view, (k, n) in zip(packed, sizes, strict=True)
    )

    def allows(groups: int, dtype: str, k: int, n: int) -> bool:
        allowed = getattr(library(), f"tn_by_rows_{SUFFIX[dtype]}")
        return bool(allowed(*map(ctypes.c_int64, (rows, n, k, nbytes)), groups, threads))

    wanted = [threads] if sharing.barriers_by_both is None else range(threads, 1, -1)
    for groups in wanted:
        if all(allows(groups, v.dtype, k, n) for v, (k, n) in zip(packed, sizes, strict=True)):
            return groups
    return 1


def _part_of_loop(
    one: Measured, statement: Statement, partition: Any, counted: Counted, groups: Number
) -> Part:
    share: Number = alone
    why = "one thread"
    if partition == EVERY:
        why = "each thread does it"
    elif isinstance(partition, Share):
        share = partial(_share, one, partition, groups)
        why = "unequal parts"
    fetched = partial(_fetched, one, statement, partition, counted.times, groups)
    return Part(counted.text, counted.seconds, share, why, 0.0, fetched)


def _share(one: Measured, partition: Share, groups: Number, threads: int) -> float:
    size = one.number(partition.size)
    unit = 1 if partition.unit == "1" else width(partition.unit)
    if size is None or threads == 1:
        return 1 / threads
    if not isinstance(partition, Rectangle):
        return largest_of(size, unit, threads)
    down = int(groups(threads))
    rows = one.number(one.lowered.sharing.rows)
    return largest_of(rows or down, 1, down) * largest_of(size, unit, threads // down)


def _fetched(
    one: Measured, statement: Statement, partition: Any, times: float, groups: Number, threads: int
) -> float:
    """Return the bytes of others' results that a thread reads: what it shares with none."""
    if threads == 1:
        return 0.0
    share = partition if isinstance(partition, Share) else None
    down = groups(threads) if isinstance(partition, Rectangle) else 1
    total = 0.0
    for touch in statement.touches(share):
        if touch.write or touch.dimension is not None or _is_given(touch.view):
            continue
        across = threads / down
        total += _bytes(one, touch.view) / down * (across - 1) / across
    return total * times


def _is_given(view: View) -> bool:
    return view.buffer.root().role == "invariant"


def _bytes(one: Measured, view: View) -> float:
    sizes = [one.number(size) for size in view.shape]
    known = math.prod(size for size in sizes if size is not None)
    return float(known * np.dtype(view.dtype).itemsize)


def _threads_of_loop(seconds: float, barriers: Number, prices: Prices, most: int) -> int:
    """Return how many threads share a step, as `tn_threads_for` has it."""
    phases = max(1.0, barriers(most))
    barrier = WORK_OF_A_BARRIER * 1e9 * prices.barrier_of(most)
    each = min(max(barrier, LEAST_WORK), ENOUGH_WORK)
    return max(1, min(most, int(1e9 * seconds / phases / each)))


# ---- statements of segments ----


def _alone(one: Measured, statement: Statement, counted: Counted) -> Region:
    """Return a statement that threads share by itself, or one thread does."""
    part = one.lowered.parts.get(statement)
    each = 1e9 * counted.seconds / max(1.0, counted.times)
    moved = counted.nbytes if counted.nbytes > BYTES_OF_A_CORE * max(1.0, counted.times) else 0.0
    gemm = as_kind(statement, Gemm)
    # it is offered, and waited for
    barriers = 2.0 * counted.times
    if gemm is not None:
        product = partial(_product, one, gemm, counted.operations / max(1.0, counted.times))
        work = counted.operations / max(1.0, counted.times) / 2
        made = Part(counted.text, counted.seconds, product, "unequal parts")
        return Region(
            one.lowered.name,
            [made],
            lambda n: max(1, min(n, int(work / WORTH_A_THREAD))),
            lambda n: barriers,
        )
    if part is None or each < WORTH_WAKING:
        made = Part(counted.text, counted.seconds, alone, "one thread", moved)
        return Region(one.lowered.name, [made], lambda n: 1, none)
    made = Part(counted.text, counted.seconds, partial(_part, one, part), "unequal parts", moved)
    return Region(
        one.lowered.name,
        [made],
        lambda n: max(1, min(n, int(each / ENOUGH_WORK))),
        lambda n: barriers,
    )


def _part(one: Measured, part: Share, threads: int) -> float:
    size = one.number(part.size) if part.dimension >= 0 else None
    if size is None:
        return 1 / threads
    return largest_of(size, 1 if part.unit == "1" else width(part.unit), threads)


def _product(one: Measured, gemm: Gemm, operations: float, threads: int) -> float:
    """Return the largest rectangle of tiles and panels, as gemm.c cuts a product."""
    suffix = SUFFIX[gemm.out.dtype]
    panel, tile = width(suffix), tile_rows(suffix)
    n, k = (one.number(size) for size in gemm.b.shape[::-1])
    m = one.number(gemm.out.shape[0])
    if m is None and n and k:
        m = round(operations / 2 / n / k)
    if not m or not n or threads == 1:
        return 1 / threads
    across = min(
        (across for across in range(1, threads + 1) if threads % across == 0),
        key=lambda across: m / (threads / across) + n / across,
    )
    down = threads // across
    tiles, panels = math.ceil(m / tile), math.ceil(n / panel)
    return largest_of(tiles, 1, down) * largest_of(panels, 1, across)


def tile_rows(suffix: str) -> int:
    """Return how many rows the largest tile of this processor's kernels has."""
    name = library().tn_kernels_name
    name.restype = ctypes.c_char_p
    return {"avx512": 12, "avx2": 6, "neon": 6, "portable": 4}[name().decode()]
