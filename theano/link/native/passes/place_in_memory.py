"""Each temporary, packed operand and ring of a state gets a slot of the work memory.

Slots that are never needed at the same time may share memory: where they lie is found when the function
is called, as sizes are known then. What each block of a loop's steps makes again is needed by parts of the
block only. Where threads share the work of a loop's step, all are needed always:
else a thread would have to wait for those that still read what lay there before.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from theano.link.native.ir.ir import Argument, Buffer, View
from theano.link.native.ir.memory_plan import ALWAYS, MemoryPlan
from theano.link.native.ir.partitions import Sharing
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.sizes import Sizes, bytes_of
from theano.link.native.ir.symbolic import Call, Name
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.step_blocks import StepBlocks, moments


def place_in_memory(lowered: Loop | Segment) -> None:
    """Plan the work memory of a loop or segment, and check that it and all arrays fit."""
    step, plan = lowered.step, MemoryPlan()
    _place_temporaries(plan, step, shared=isinstance(lowered.sharing, Sharing))
    _check(plan, step.sizes, step.temporaries)
    for view in step.packed:
        size = Call(f"packed_size_{SUFFIX[view.dtype]}", view.shape)
        plan.packed.append(plan.add_slot(size))
    for argument in lowered.rings:
        # the loop names how many rows the ring needs, if any
        shape = (Name(f"{argument.name}_ring_rows"), *argument.shape)
        bytes_ = bytes_of(map(step.sizes.find, shape), np.dtype(argument.dtype).itemsize)
        plan.rings[argument.name] = plan.add_slot(bytes_)
    _check(plan, step.sizes, lowered.results)
    step.sizes.checks.append("arrays that memory is large enough for")
    plan.check = len(step.sizes.checks)
    lowered.memory = plan


def needs_memory(buffer: Buffer) -> bool:
    """Return whether a temporary lies in its own memory."""
    if buffer.place is not None or buffer.source is not None:
        return False
    return buffer.compute is None or buffer.compute.materialized


def _place_temporaries(plan: MemoryPlan, step: Step, shared: bool) -> None:
    lives = _lives(step)
    buffers = [b for b in step.temporaries if needs_memory(b) and b in lives]
    for buffer in sorted(buffers, key=lambda b: lives[b][0]):
        size = bytes_of(map(step.sizes.find, buffer.shape), np.dtype(buffer.dtype).itemsize)
        needed = (0, ALWAYS) if shared else lives[buffer]
        plan.buffers[buffer] = plan.add_slot(size, *needed)


def _check(plan: MemoryPlan, sizes: Sizes, arrays: Iterable[Buffer | Argument]) -> None:
    """Refuse calls for which an array that has no slot is larger than memory."""
    placed = {slot.size for slot in plan.slots}
    for array in arrays:
        size = bytes_of(map(sizes.find, array.shape), np.dtype(array.dtype).itemsize)
        if not isinstance(size, int) and size not in placed:
            plan.others[size] = None


def _lives(step: Step) -> dict[Buffer, tuple[int, int]]:
    """Return the first and the last moment at which each temporary is written or read."""
    lives: dict[Buffer, tuple[int, int]] = {}
    done = moments(step.statements)
    for position, moment in enumerate(done):
        for buffer in moment.statement.buffers():
            root = buffer.root()
            lives[root] = (lives.get(root, (position, position))[0], position)
    for blocks in of_kind(step.statements, StepBlocks):
        first = next(k for k, moment in enumerate(done) if moment.blocks is blocks)
        last = first + len(blocks.parts) - 1
        again = _recomputed(blocks)
        for root in {buffer.root() for buffer in blocks.buffers()}:
            begins, ends = lives[root]
            if root not in again or begins < first or ends > last:
                lives[root] = (min(begins, first), max(ends, last))
    return lives


def _recomputed(blocks: StepBlocks) -> set[Buffer]:
    """Return the buffers that each block writes before it reads them."""
    found: set[Buffer] = set()
    carried = {buffer.root() for part in blocks.parts for buffer in part.carried()}
    for part in blocks.parts:
        read = {value.buffer.root() for value in part.values_read() if isinstance(value, View)}
        carried |= read - found
        found |= {buffer.root() for buffer in (*part.written(), *part.results())} - carried
    return found
