"""Reductions move to where their operand is complete, so that it has memory no longer.

A cost is often the last thing that a step of training needs: squares of errors would wait until all
gradients are computed. Check: nothing reads the large array afterwards, and no statement between what
makes it and the reduction has to stay before it. Transformation: the reduction moves up.
"""

from __future__ import annotations

from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.passes.share_memory import last_uses
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.reduce import Reduce


def reduce_early(segment: Segment) -> None:
    """Move reductions of what nothing else needs up to what makes it; positions change."""
    step = segment.step
    dependence, last = Dependence(segment), last_uses(step.statements)
    ends = {buffer: step.statements[position] for buffer, position in last.items()}
    for statement in list(of_kind(step.statements, Reduce)):
        root = statement.source.buffer.root()
        is_last = root.role == "temporary" and ends[root] is statement
        if not is_last or step.sizes.known_below(root.shape, FEW):
            continue
        first = position = step.statements.index(statement)
        while first and not dependence.ordered(step.statements[first - 1], statement):
            first -= 1
        step.statements.insert(first, step.statements.pop(position))
