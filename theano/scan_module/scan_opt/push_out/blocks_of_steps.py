"""A loop cut into blocks of steps, each followed by the sums over its steps.

Taking a sum out of a loop may mean storing its operands for all steps. To bound that memory the
loop runs in blocks: an outer loop over the blocks, an inner one over the steps of a block, whose
operands are kept, summed and forgotten. All blocks of the outer loop have as many steps, so that
engines know the sizes in it; the last block, of so many steps or fewer, comes after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np
from pytensor import tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.scan_module.loop.arguments import BuiltLoop, Invariant, Loop, Sequence, Untraced
from theano.scan_module.scan_opt.push_out.passed_between_blocks import Block, PassedOn
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class BlockResult:
    """The work of one block: the built loop of its steps, if anything of it is left, and the sums after it."""

    built: BuiltLoop | None
    sums: list[TensorVariable]


# Given the loop of a block's steps and the sums before it, build what runs in the block.
RunBlock = Callable[[Loop, list[TensorVariable]], BlockResult]


# products of so many rows are as fast as any, and caches hold so many bytes
ENOUGH_ROWS, ENOUGH_BYTES = 1024, 2**20


def block_length(step: StepAnalysis, values: list[Variable], memory: int) -> Variable:
    """Return how many steps a block has: as many as fit into memory, at least one, and no more than enough.

    Parameters
    ----------
    step
        Facts about the step that computes the values.
    values
        The values that are kept for each step of a block.
    memory
        Bytes.
    """
    shapes = [list(step.outer_shape(value)) for value in values]
    sizes = [np.dtype(value.type.dtype).itemsize for value in values]
    bytes_ = [size * _product(shape) for size, shape in zip(sizes, shapes, strict=True)]
    of_a_step = pt.maximum(1, sum(bytes_))
    rows = reduce(pt.maximum, [_product(shape[:-1]) for shape in shapes], 1)
    enough = pt.maximum(-(-ENOUGH_ROWS // rows), -(-ENOUGH_BYTES // of_a_step))
    return pt.maximum(1, pt.minimum(memory // of_a_step, enough)).astype("int64")


def _product(sizes: list[Variable]) -> Variable:
    return pt.prod(pt.stack([1, *sizes]))


def run_in_blocks(
    loop: Loop,
    length: Variable,
    sums: list[TensorVariable],
    run_block: RunBlock,
    op_class: type,
    passed: PassedOn,
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
    passed
        What blocks pass to the next.

    Returns
    -------
    replacements
        What is read of the loop's outputs, mapped to what it is now.
    totals
        The sums after the last block.
    """
    # the last block has a step where the loop has any: the engines' loops without one keep no rows
    count = pt.maximum(0, (loop.n_steps - 1) // length)
    inside = _Invariants()
    start = pt.lscalar("start")
    entries = [_passed_on(value) for value in (*passed.before, *sums)]
    first = Block(inside, start, inside(length))
    given = [entry.inner_input for entry in entries]
    after = _after_block(first, loop, given, run_block, passed)
    blocks = Loop(
        n_steps=count,
        sequences=(Sequence(pt.arange(0, count * length, length, dtype="int64"), start),),
        untraced=tuple(
            replace(entry, inner_output=entry.inner_input.type.filter_variable(value))
            for entry, value in zip(entries, after, strict=True)
        ),
        invariants=tuple(inside.found.values()),
        # PyTensor's C VM, if it keeps results of a step in memory, would write the next
        # step's over an untraced value that is still to be read
        settings=replace(
            loop.settings, name=f"blocks_of_{loop.settings.name or 'scan'}", allow_gc=True
        ),
    )
    done = count * length
    last = Block(known_tensor, done, loop.n_steps - done)
    outputs = _after_block(last, loop, blocks.build(op_class).node.outputs, run_block, passed)
    kept = len(passed.before)
    return passed.replacements(outputs[:kept]), outputs[kept:]


def _after_block(
    block: Block, loop: Loop, given: list[Variable], run_block: RunBlock, passed: PassedOn
) -> list[Variable]:
    """Return what a block passes on, and the sums after it, given those before it."""
    kept = len(passed.before)
    part = passed.loop_of(block, given[:kept])
    result = run_block(part, known_tensors(given[kept:]))
    return [*passed.after(block, given[:kept], part, result.built), *result.sums]


class _Invariants:
    """Outer variables as they appear in the step of the loop over the blocks."""

    def __init__(self) -> None:
        self.found: dict[Variable, Invariant] = {}

    def __call__(self, outer: Variable) -> TensorVariable:
        if isinstance(outer, Constant):
            return known_tensor(outer)
        if outer not in self.found:
            self.found[outer] = Invariant(outer, outer.type(name=outer.name))
        return known_tensor(self.found[outer].inner)


def _passed_on(outer: Variable) -> Untraced:
    """Return a value that is passed from block to block."""
    inner = outer.type(name=outer.name)
    return Untraced(outer, inner, inner)
