"""A loop cut into blocks of steps, each followed by the sums over its steps.

Taking a sum out of a loop may mean storing its operands for all steps. To bound that memory the
loop runs in blocks: an outer loop over the blocks, an inner one over the steps of a block, whose
operands are kept, summed and forgotten. The buffers of the loop's own states and traces are
passed from block to block; each block reads and writes its rows of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from pytensor import tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import AllocEmpty

from theano.data_classes import dataclass
from theano.scan_module.loop.arguments import (
    BuiltLoop,
    Invariant,
    Loop,
    Sequence,
    State,
    Trace,
    Untraced,
)
from theano.scan_module.loop.initial_values import memory_after
from theano.scan_module.scan_opt.outside.outside_values import initial_value
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.schedule.lengths import lengths_of


@dataclass(frozen=True)
class BlockResult:
    """What runs in one block: the built loop of its steps, and the sums after it."""

    built: BuiltLoop
    sums: list[Variable]


# Given the loop of a block's steps and the sums before it, build what runs in the block.
RunBlock = Callable[[Loop, list[Variable]], BlockResult]


def block_length(step: StepAnalysis, values: list[Variable], memory: int) -> Variable:
    """How many steps' values fit into memory, at least one.

    Parameters
    ----------
    step
        Facts about the step that computes the values.
    values
        The values that are kept for each step of a block.
    memory
        Bytes.
    """
    per_step = sum(
        np.dtype(value.type.dtype).itemsize * pt.prod(pt.stack([1, *step.outer_shape(value)]))
        for value in values
    )
    return pt.maximum(1, memory // pt.maximum(1, per_step)).astype("int64")


def run_in_blocks(
    loop: Loop,
    length: Variable,
    sums: list[Variable],
    run_block: RunBlock,
    op_class: type,
    unread: set[State],
) -> tuple[dict[Variable, Variable], list[Variable]]:
    """Cut a loop that does not stop early into blocks.

    Parameters
    ----------
    loop
        The loop.
    length
        Steps in a block, an integer scalar variable; the last block may be shorter.
    sums
        Initial values of the sums that the blocks add to.
    run_block
        Builds what runs in one block.
    op_class
        The class of the loops' ops.
    unread
        States that read only the step before and that nothing reads after the loop: of these
        only the last value is passed from block to block.

    Returns
    -------
    replacements
        The outputs of the loop, mapped to the new ones.
    totals
        The sums after the last block.
    """
    inside = _Inside()
    start = pt.lscalar("start")
    steps = pt.minimum(inside(length), inside(loop.n_steps) - start)
    buffers = {
        **{
            state: _passed_on(initial_value(state) if state in unread else state.outer)
            for state in loop.states
        },
        **{trace: _passed_on(_empty_trace(trace)) for trace in loop.traces},
        **{entry: _passed_on(entry.outer) for entry in loop.untraced},
    }
    totals = [_passed_on(value) for value in sums]
    block = _block(loop, inside, buffers, unread, start, steps)
    result = run_block(block, [total.inner_input for total in totals])
    new_rows = _rows_of_block(loop, block, result.built, buffers, unread, start, steps)
    blocks = Loop(
        n_steps=-((-loop.n_steps) // length),
        sequences=(Sequence(pt.arange(0, loop.n_steps, length, dtype="int64"), start),),
        untraced=(
            *(replace(buffers[entry], inner_output=new_rows[entry]) for entry in buffers),
            *(
                replace(total, inner_output=total.inner_input.type.filter_variable(value))
                for total, value in zip(totals, result.sums, strict=True)
            ),
        ),
        invariants=tuple(inside.invariants.values()),
        # PyTensor's C VM, told to keep results of a step in memory, would write the next
        # step's over an untraced value that is still to be read
        settings=replace(
            loop.settings, name=f"blocks_of_{loop.settings.name or 'scan'}", allow_gc=True
        ),
    )
    outputs = blocks.build(op_class).node.outputs
    replacements = {
        entry.output: output
        for entry, output in zip(buffers, outputs, strict=False)
        if entry.output is not None and entry not in unread
    }
    return replacements, outputs[len(buffers) :]


def _block(
    loop: Loop,
    inside: _Inside,
    buffers: dict[State | Trace | Untraced, Untraced],
    unread: set[State],
    start: Variable,
    steps: Variable,
) -> Loop:
    """The loop over the steps of one block, on its rows of what the whole loop is given."""

    def rows(state: State) -> Variable:
        buffer = buffers[state].inner_input
        if state in unread:
            return memory_after(buffer, steps)
        return buffer[start : start + steps + state.span]

    return replace(
        loop,
        n_steps=steps,
        sequences=tuple(
            replace(entry, outer=inside(entry.outer)[start : start + steps])
            for entry in loop.sequences
        ),
        states=tuple(replace(s, outer=rows(s), output=None) for s in loop.states),
        traces=tuple(replace(t, length=steps, output=None) for t in loop.traces),
        untraced=tuple(
            replace(entry, outer=buffers[entry].inner_input, output=None) for entry in loop.untraced
        ),
        invariants=tuple(replace(entry, outer=inside(entry.outer)) for entry in loop.invariants),
    )


class _Inside:
    """Outer variables as they appear in the step of the loop over the blocks."""

    def __init__(self):
        self.invariants: dict[Variable, Invariant] = {}

    def __call__(self, outer: Variable) -> Variable:
        if isinstance(outer, Constant):
            return outer
        if outer not in self.invariants:
            self.invariants[outer] = Invariant(outer, outer.type(name=outer.name))
        return self.invariants[outer].inner


def _passed_on(outer: Variable) -> Untraced:
    """A value that is passed from block to block."""
    inner = outer.type(name=outer.name)
    return Untraced(outer, inner, inner)


def _empty_trace(trace: Trace) -> Variable:
    return AllocEmpty(trace.inner.type.dtype)(*lengths_of(trace.output))


def _rows_of_block(loop, block, built, buffers, unread, start, steps) -> dict:
    """Each buffer with the rows of one block written to it."""
    entries = {
        **dict(zip(loop.states, block.states, strict=True)),
        **dict(zip(loop.traces, block.traces, strict=True)),
    }
    rows = {}
    for old, new in entries.items():
        buffer = buffers[old].inner_input
        if old in unread:
            rows[old] = buffer.type.filter_variable(built.outputs[new][-1])
            continue
        span = old.span if isinstance(old, State) else 0
        written = pt.set_subtensor(buffer[start : start + steps + span], built.outputs[new])
        rows[old] = buffer.type.filter_variable(written)
    for old, new in zip(loop.untraced, block.untraced, strict=True):
        rows[old] = built.outputs[new]
    return rows
