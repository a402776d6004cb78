"""The model of a device: how many blocks a loop gets, and how long a step of it takes.

Its rates are those of an H100 by its data sheet, and the two barriers of a step that a trial of such a
kernel measured. No kernel of this package was timed yet: the model orders plans, and predicts no more.
"""

from __future__ import annotations

import math

import numpy as np

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.cuda.plan import Plan, planned
from theano.link.cuda.products import LOADS, WIDE_BYTES, ProductGroup
from theano.link.cuda.refusals import NoKernel
from theano.link.native.ir.partitions import Serial
from theano.link.native.lowering.loop import Loop
from theano.link.native.statements.base import Statement
from theano.link.native.statements.gemm import Gemm
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Device:
    """Limits of a device, to which kernels keep, and its rates.

    Attributes
    ----------
    blocks
        How many blocks are resident at once, one on each multiprocessor.
    lanes
        The threads of a block.
    own_bytes
        Memory of a block.
    barrier
        Nanoseconds of a barrier of all blocks.
    statement
        Nanoseconds of a statement before its first result is there: loads from the second-level cache, and a
        barrier of the block.
    pass_
        Nanoseconds for each element that a lane does.
    cache, cache_of_block
        Bytes a nanosecond from the second-level cache to all blocks, and to one.
    load
        Nanoseconds from a load to its result, of memory in the second-level cache.
    multiply_adds
        Multiply-adds a nanosecond of a block in float32, if each reads half an operand of its own memory.
    """

    blocks: int = 132
    lanes: int = 256
    own_bytes: int = 227 * 1024
    barrier: float = 1500.0
    statement: float = 800.0
    pass_: float = 25.0
    cache: float = 5500.0
    cache_of_block: float = 64.0
    load: float = 700.0
    multiply_adds: float = 108.0


DEVICE = Device()


def best_plan(loop: Loop, fixed: FixedSizes, device: Device, blocks: int = 0) -> Plan:
    """Return the plan of a loop with the number of blocks that the model finds best, or with one that is given.

    Raises
    ------
    NoKernel
        If no number of blocks has memory enough for the columns that they keep.
    """
    counts = _counts(loop, fixed, blocks or device.blocks)
    counts = counts[:1] if blocks else counts
    plans = [planned(loop, fixed, count, device.lanes) for count in counts]
    fitting = [plan for plan in plans if own_bytes(plan) <= device.own_bytes]
    if not fitting:
        least = min(map(own_bytes, plans))
        raise NoKernel(f"{least} bytes in each block's memory, which has {device.own_bytes}")
    return min(fitting, key=lambda plan: nanoseconds_of_step(plan, device))


def _counts(loop: Loop, fixed: FixedSizes, blocks: int) -> list[int]:
    """Return numbers of blocks among which to choose: of each as many as have equal numbers of columns."""
    if isinstance(loop.sharing, Serial) or loop.sharing is None:
        return [1]
    widest = max((fixed.number(size) for size, _, _ in loop.sharing.ranges), default=1)
    found, most = set(), min(blocks, max(widest, 1))
    while most:
        columns = -(-widest // most)
        found.add(max(-(-widest // max(columns, 1)), 1))
        most //= 2
    return sorted(found, reverse=True)


def own_bytes(plan: Plan) -> int:
    """Return the bytes of a block's own memory, partial results of products among them."""
    return plan.own.bytes + max(
        (g.scratch_bytes(plan.lanes) for g in plan.groups.values()), default=0
    )


def nanoseconds_of_step(plan: Plan, device: Device) -> float:
    """Return how long a step takes, by the model."""
    total = device.barrier * len(plan.waits)
    for position, statement in enumerate(plan.loop.step.statements):
        if isinstance(statement, Gemm):
            if position in plan.groups:
                total += _of_products(plan.groups[position], plan, device)
        elif not statement.only_numbers:
            total += _of_elements(statement, position, plan, device)
    return total


def _of_products(group: ProductGroup, plan: Plan, device: Device) -> float:
    """Return the time to read the left operand, to multiply, and to add up the slices."""
    one, count = group.first, len(group.products)
    bytes_ = one.m * one.k * one.itemsize
    at_once = LOADS * plan.lanes * (WIDE_BYTES if plan.is_wide(group) else one.itemsize)
    waits = device.load * -(-bytes_ // at_once)
    read = max(waits, bytes_ / min(device.cache_of_block, device.cache / plan.blocks))
    # a multiply-add has half an operand of its own memory in tiles of 4 x 4, a quarter in larger ones
    rate = device.multiply_adds * (2 if one.m >= 32 else 1) * 4 / one.itemsize
    multiplied = one.m * one.n * count * one.k / rate
    results = one.m * one.n * group.slices(plan.lanes) * count / plan.lanes
    return device.statement + read + multiplied + results


def _of_elements(statement: Statement, position: int, plan: Plan, device: Device) -> float:
    """Return the time of a pass over a block's elements."""
    share = plan.share(position)
    most = 0.0
    for work in statement.nanoseconds():
        elements = math.prod(plan.fixed.shape(work.shape))
        if share is not None:
            size = plan.fixed.number(plan.fixed.sizes.find(share.size))
            elements = elements * plan.widest[share.first] // max(size, 1)
        most = max(most, float(np.ceil(elements / plan.lanes)))
    return device.statement + device.pass_ * most
