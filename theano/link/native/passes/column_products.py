"""A product of which only ranges of columns are read becomes a product for each of the ranges.

Gates whose weights were joined are so computed next to one another, as one product would: but a
thread has the same columns of each, need not wait for the others to combine them, and finds each
gate contiguous.

Check: nothing but ranges is read, and no two of them overlap, as far as their bounds say: what is in
both would be computed twice.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.step import Step
from theano.link.native.passes.ranges import range_of
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.gemm import Gemm

Range = tuple[Size, Size]


def split_products(loop: Loop) -> None:
    """Split those products of a step for which that holds; positions of statements change."""
    step = loop.step
    for product in list(of_kind(step.statements, Gemm)):
        ranges = _ranges_read(step, product)
        if len(ranges) < 2:
            continue
        parts = {which: _part(step, product, which) for which in ranges}
        position = step.statements.index(product)
        step.statements[position : position + 1] = parts.values()
        step.origins |= dict.fromkeys(parts.values(), step.origins.pop(product, None))
        renamed = {
            id(view): View.of(parts[which].out.buffer)
            for which, views in ranges.items()
            for view in views
        }
        for reader in step.statements:
            reader.replace_views(renamed)
    step.packed = []
    for product in of_kind(step.statements, Gemm):
        if product.packed is not None:
            product.packed = step.packed_position(product.b)


def _ranges_read(step: Step, product: Gemm) -> dict[Range, list[View]]:
    """Return the ranges of columns, and the views that read them; empty where it does not hold."""
    buffer = product.out.buffer
    plain = buffer.role == "temporary" and buffer.place is None and not buffer.packed
    if product.packed is None or not plain or product.b.axes[1] is None:
        return {}
    ranges: dict[Range, list[View]] = {}
    for statement in step.statements:
        if statement is product:
            continue
        for view in statement.views():
            if view.buffer is buffer:
                part = range_of(view, buffer, step.sizes)
                if part is None or part.axis != len(buffer.shape) - 1:
                    return {}
                ranges.setdefault((part.start, part.length), []).append(view)
            elif view.buffer.root() is buffer:
                return {}
    return ranges if _lie_apart(ranges.keys(), step.sizes) else {}


def _lie_apart(ranges: Collection[Range], sizes: Sizes) -> bool:
    """Return whether one ends where another begins, or where one begins that ends there, and so on."""
    ends = {start: sizes.end(start, columns) for start, columns in ranges}

    def before(start: Size, other: Size) -> bool:
        # each range is followed once, so that no circle is
        end, left = ends[start], dict(ends)
        while end is not None:
            if sizes.not_before(other, end):
                return True
            end = left.pop(end, None)
        return False

    alone = len(ends) == len(ranges)
    return alone and all(before(a, b) or before(b, a) for a, b in combinations(ends, 2))


def _part(step: Step, product: Gemm, which: Range) -> Gemm:
    start, columns = which
    b, whole = product.b, product.out
    axis = b.axes[1]
    assert axis is not None
    begin = list(b.start)
    begin[axis] = step.sizes.binary(begin[axis], "+", step.sizes.binary(start, "*", b.steps[1]))
    right = View(b.buffer, (b.shape[0], columns), b.axes, b.steps, tuple(begin))
    out = step.temporary(whole.dtype, (*whole.buffer.shape[:-1], columns))
    shape = (whole.shape[0], columns)
    return Gemm(product.a, right, View(out, shape, whole.axes, whole.steps, whole.start), 0)
