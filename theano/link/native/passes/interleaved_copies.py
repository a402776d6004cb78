"""Copies into every second element, or every third, become one pass.

Each of them would read and write all lines of the memory that it leaves gaps in. Check: the target shows one
place along the last axis, of a few. Transformation: the copy is a map, which is joined with those next to it.
"""

from __future__ import annotations

from theano.link.native.ir.ir import View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.results_of_maps import computed
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map

# neighbours that lie in one line of memory
_FEW = 8


def interleave_copies(segment: Segment) -> None:
    """Have maps copy what goes between what others copy."""
    step = segment.step
    for copy in [one for one in of_kind(step.statements, Copy) if _has_gaps(one, step.sizes)]:
        result = step.temporary(copy.target.dtype, copy.target.shape)
        result.place = copy.target
        same = Expression("Identity", "first", result.dtype, result.dtype, True)
        own = Map(result.shape, [computed(result, same, [copy.source])])
        step.origins[own] = step.origins.pop(copy, None)
        step.statements[step.statements.index(copy)] = own


def _has_gaps(copy: Copy, sizes: Sizes) -> bool:
    """Return whether a copy leaves the same gaps between all elements that it writes."""
    target, source = copy.target, copy.source
    if not isinstance(source, View) or source.dtype != target.dtype or None in target.axes:
        return False
    if copy.may_be_same or copy.rows is not None or target.ndim < 2:
        return False
    last = len(target.buffer.shape) - 1
    together = sizes.find(target.buffer.shape[last])
    shown = [sizes.find(target.shape[d]) for d, axis in enumerate(target.axes) if axis == last]
    shapes = zip(source.shape, target.shape, strict=True)
    return (
        isinstance(together, int)
        and 1 < together <= _FEW
        and shown in ([], [1])
        and all(sizes.find(a) == sizes.find(b) for a, b in shapes)
    )
