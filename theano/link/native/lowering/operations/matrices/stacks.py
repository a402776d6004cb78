"""Operations on stacks of matrices or vectors: one for each place in what the stacks broadcast to."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.lowering.step import Step


def stack_shape(
    step: Step, views: Sequence[View], flags: Sequence[Sequence[bool]]
) -> tuple[Size, ...]:
    """Return what the stacks broadcast to; ``flags`` says which sizes of each are known as 1."""
    shape: list[Size] = [1] * max(len(known) for known in flags)
    for view, known in zip(views, flags, strict=True):
        for d in range(1, len(known) + 1):
            if not known[-d]:
                size = view.shape[: len(known)][-d]
                both = shape[-d] != 1
                shape[-d] = step.sizes.equal(shape[-d], size, "sizes of stacks") if both else size
    return tuple(shape)


def stretched(view: View, shape: tuple[Size, ...], flags: Sequence[bool]) -> View:
    """Return a stack repeated to a shape, without its elements being moved."""
    own = len(flags)
    lead = len(shape) - own
    axes = (
        *[None] * lead,
        *(None if known else axis for axis, known in zip(view.axes, flags, strict=False)),
        *view.axes[own:],
    )
    steps = (*[0] * lead, *view.steps)
    return View(view.buffer, (*shape, *view.shape[own:]), axes, steps, view.start)
