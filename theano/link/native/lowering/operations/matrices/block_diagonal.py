"""Matrices one after the other along a diagonal, with zeros around them."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Buffer, Size, Splat, Value, View
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.pytensor_internals.operations.tensor import BlockDiagonal


@lowers(BlockDiagonal)
def block_diagonal(step: Step, node, inputs: list[Value]) -> list[Value]:
    return block_diagonals(step, node, inputs, [()] * len(inputs))


def block_diagonals(
    step: Step, node, inputs: list[Value], flags: Sequence[Sequence[bool]]
) -> list[Value]:
    """One for each place of the stacks; ``flags`` says which of their sizes are known as 1."""
    dtype = node.outputs[0].type.dtype
    views = [step.view(cast(step, value, dtype)) for value in inputs]
    stack = stack_shape(step, views, flags)
    blocks = [stretched(view, stack, known) for view, known in zip(views, flags, strict=True)]
    starts: list[tuple[Size, Size]] = [(0, 0)]
    for block in blocks:
        down, right = (
            step.sizes.binary(start, "+", size)
            for start, size in zip(starts[-1], block.shape[-2:], strict=True)
        )
        starts.append((down, right))
    rows, columns = starts[-1]
    out = step.temporary(dtype, (*stack, rows, columns))
    zero = step.constant(0, dtype)

    # what computes a block may write it in its place, so that zeros are written next to it alone
    for block, start, end in zip(blocks, starts[:-1], starts[1:], strict=True):
        height, (_, after) = block.shape[-2], end
        step.place(block, _part(out, block.shape, start))
        for begin, width in ((0, start[1]), (after, step.sizes.binary(columns, "-", after))):
            if width != 0:
                alongside = (*stack, height, width)
                step.place(Splat(zero, alongside), _part(out, alongside, (start[0], begin)))
    return [View.of(out)]


def _part(out: Buffer, shape: tuple[Size, ...], start: tuple[Size, Size]) -> View:
    """Return the part of the last two dimensions that begins there."""
    ndim = len(shape)
    return View(out, shape, tuple(range(ndim)), (1,) * ndim, (*(0,) * (ndim - 2), *start))
