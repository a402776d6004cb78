"""The plan of a kernel: blocks, their ranges, and what lies in which memory."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.cuda.products import ProductGroup, block_product
from theano.link.cuda.schedule.registry import Block, columns_of
from theano.link.native.ir.ir import Buffer
from theano.link.native.ir.partitions import ONE, Partition, Serial, Share, Sharing
from theano.link.native.lowering.loop import Loop
from theano.link.native.passes.partition import Tracker, barriers_with_rows
from theano.link.native.passes.place_in_memory import needs_memory
from theano.link.native.statements.gemm import Gemm
from theano.support.data_classes import dataclass

# arrays in memory begin at multiples of so many bytes
ALIGNED = 256
# of its own memory a block has temporaries and the columns that it keeps in so many bytes
MOST_LOCAL_BYTES = 160 * 1024


@dataclass
class Memory:
    """Places in a memory, by what has them.

    Attributes
    ----------
    bytes
        How many there are.
    """

    places: dict[Any, int] = field(default_factory=dict)
    bytes: int = 0

    def add(self, what: object, count: int) -> None:
        """Give so many bytes to something that has none yet."""
        if what not in self.places:
            self.places[what] = self.bytes
            self.bytes += -(-max(count, 1) // ALIGNED) * ALIGNED


@dataclass(frozen=True)
class Local:
    """A range along an axis of a buffer, which is all that a block has of it."""

    axis: int
    first: str


@dataclass(eq=False)
class Plan:
    """The decisions for one kernel.

    Attributes
    ----------
    ranges
        By the number of a range: how many elements there are.
    work
        What lies in the device's memory: temporaries, and rings of states by name.
    own
        What lies in a block's own memory: the columns that it keeps, by `ProductGroup`, and temporaries of
        which it needs no other block's elements.
    groups
        By the position of the first of them: products that are computed together.
    doubled
        The temporaries in the device's memory that have rows for two steps, used by turns, so that blocks wait
        for one another less often.
    waits
        The positions of statements before which all blocks wait for one another.
    local
        By the temporary that lies in a block's own memory: the range that a block has of it; None: all of it.
    """

    loop: Loop
    fixed: FixedSizes
    blocks: int
    lanes: int
    ranges: dict[int, int] = field(default_factory=dict)
    groups: dict[int, ProductGroup] = field(default_factory=dict)
    doubled: list[Buffer] = field(default_factory=list)
    waits: set[int] = field(default_factory=set)
    local: dict[Buffer, Local | None] = field(default_factory=dict)
    work: Memory = field(default_factory=Memory)
    own: Memory = field(default_factory=Memory)
    scratch: list[int] = field(default_factory=list)

    def is_wide(self, group: ProductGroup) -> bool:
        """Return whether lanes load 16 bytes at a time of the left operand of products."""
        root = group.first.left.view.buffer.root()
        rows = {row: a for row, a, _ in self.loop.rows if isinstance(row, Buffer)}
        rows |= {write.row: write.argument for write in self.loop.writes if write.row is not None}
        argument = rows.get(root)
        elements = None if argument is None else math.prod(self.fixed.shape(argument.shape))
        return group.first.is_wide(self.fixed, elements)

    def local_strides(self, buffer: Buffer) -> tuple[int, ...]:
        """Return the strides of a buffer in a block's own memory."""
        shape, local = list(self.fixed.shape(buffer.shape)), self.local[buffer]
        if local is not None:
            shape[local.axis] = self.widest[local.first]
        return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))

    @property
    def widest(self) -> dict[str, int]:
        """The most elements of a range that a block has, by the name of its first bound."""
        return {f"first{k}": -(-size // self.blocks) for k, size in self.ranges.items()}

    def is_even(self, first: str) -> bool:
        """Return whether all blocks have as many elements of a range."""
        return self.ranges[int(first.removeprefix("first"))] % self.blocks == 0

    def partition(self, position: int) -> Partition | None:
        """Return what a block does of a statement; None: all of it."""
        sharing = self.loop.sharing
        if sharing is None or isinstance(sharing, Serial):
            return None
        partition = sharing.partitions[position]
        return columns_of(partition) if isinstance(partition, Share) else partition

    def share(self, position: int) -> Share | None:
        """Return the range of a block, if it has one."""
        partition = self.partition(position)
        return partition if isinstance(partition, Share) else None

    def block(self) -> Block:
        """Return what schedules know of a block."""
        return Block(self.fixed, self.lanes, self.widest, self.scratch, self.is_even)


def planned(loop: Loop, fixed: FixedSizes, blocks: int, lanes: int) -> Plan:
    """Return the plan of a kernel of so many blocks."""
    plan = Plan(loop, fixed, blocks, lanes)
    sharing = loop.sharing
    if sharing is not None and not isinstance(sharing, Serial):
        for (size, _, _), k in sharing.ranges.items():
            plan.ranges[k] = fixed.number(size)
    if blocks > 1:
        _place_barriers(plan)
    plan.groups = _grouped(plan)
    for group in plan.groups.values():
        plan.scratch.append(group.scratch_bytes(lanes))
        if group.first.kept:
            plan.own.add(group, group.kept_bytes)
    _place_in_own_memory(plan)
    _place_in_work_memory(plan)
    return plan


def _place_barriers(plan: Plan) -> None:
    """Find where blocks wait for one another, and which temporaries have to have rows for two steps for it."""
    loop = plan.loop
    assert isinstance(loop.sharing, Sharing) and loop.memory is not None
    partitions: list[Partition] = []
    for one in loop.sharing.partitions:
        share = columns_of(one) if isinstance(one, Share) else None
        partitions.append(one if share is None else share)
    candidates = [buffer for buffer in loop.memory.buffers if needs_memory(buffer)]
    plan.waits = set(loop.sharing.barriers)
    fewer = barriers_with_rows(loop, partitions, candidates)
    if len(fewer) >= len(plan.waits):
        return
    kept = candidates
    for buffer in candidates:
        without = [one for one in kept if one is not buffer]
        if len(barriers_with_rows(loop, partitions, without)) == len(fewer):
            kept = without
    plan.doubled, plan.waits = kept, barriers_with_rows(loop, partitions, kept)


def _grouped(plan: Plan) -> dict[int, ProductGroup]:
    """Return the products, those together that follow one another and have the left operand in common."""
    groups: dict[int, ProductGroup] = {}
    last: int | None = None
    for position, statement in enumerate(plan.loop.step.statements):
        if not isinstance(statement, Gemm):
            last = None
            continue
        share = plan.share(position)
        product = block_product(statement, share, plan.fixed, plan.widest)
        if last is not None and position not in plan.waits:
            products = groups[last].products
            if products[0].joins(product):
                groups[last] = ProductGroup((*products, product))
                continue
        last = position
        groups[position] = ProductGroup((product,))
    return groups


def _place_in_own_memory(plan: Plan) -> None:
    """Give temporaries of which a block needs no other block's elements a place in its own memory."""
    assert plan.loop.memory is not None
    buffers = [buffer for buffer in plan.loop.memory.buffers if needs_memory(buffer)]
    if plan.blocks == 1:
        for buffer in buffers:
            _keep_local(plan, buffer, None)
        return
    statements = plan.loop.step.statements
    tracker = Tracker(plan.fixed.sizes, {})
    owners: dict[Buffer, set[Any]] = {}
    for position, statement in enumerate(statements):
        partition = plan.partition(position)
        for access in tracker.accesses(statement, partition if partition is not None else ONE):
            first = partition.first if isinstance(partition, Share) else ""
            owners.setdefault(access.memory, set()).add((access.owner, first))
    aliased = {b.root() for s in statements for b in s.buffers() if _is_alias(b)}
    for buffer in buffers:
        found = owners.get(buffer, set())
        if len(found) != 1 or buffer in aliased or buffer in plan.doubled:
            continue
        ((owner, first),) = found
        if isinstance(owner, tuple) and _is_all_of(owner, buffer, plan.fixed):
            _keep_local(plan, buffer, Local(owner[0], first))


def _is_alias(buffer: Buffer) -> bool:
    """Return whether a buffer is other memory under another shape, which has to be in C order."""
    while buffer.place is not None:
        buffer = buffer.place.buffer
    return buffer.source is not None


def _is_all_of(owner: tuple[Any, ...], buffer: Buffer, fixed: FixedSizes) -> bool:
    """Return whether the ranges of all blocks along an axis are all of a buffer."""
    axis, start, step, size, _ = owner
    return start == 0 and step == 1 and fixed.sizes.find(buffer.shape[axis]) == size


def _keep_local(plan: Plan, buffer: Buffer, local: Local | None) -> None:
    """Give a buffer, or a block's range of it, a place in a block's own memory, if there is room."""
    shape = list(plan.fixed.shape(buffer.shape))
    if local is not None:
        shape[local.axis] = plan.widest[local.first]
    count = math.prod(shape) * np.dtype(buffer.dtype).itemsize
    if plan.own.bytes + count <= MOST_LOCAL_BYTES:
        plan.own.add(buffer, count)
        plan.local[buffer] = local


def _place_in_work_memory(plan: Plan) -> None:
    """Give memory to temporaries, and to states of which the caller may keep fewer rows than a step needs."""
    loop, fixed = plan.loop, plan.fixed
    assert loop.memory is not None
    for buffer in loop.memory.buffers:
        if needs_memory(buffer) and buffer not in plan.local:
            rows = 2 if buffer in plan.doubled else 1
            plan.work.add(buffer, rows * bytes_of(buffer, fixed))
    for argument in loop.rings:
        row = math.prod(fixed.shape(argument.shape)) * np.dtype(argument.dtype).itemsize
        plan.work.add(argument.name, (argument.history + 1) * row)


def bytes_of(buffer: Buffer, fixed: FixedSizes) -> int:
    """Return the bytes of a buffer."""
    return math.prod(fixed.shape(buffer.shape)) * np.dtype(buffer.dtype).itemsize
