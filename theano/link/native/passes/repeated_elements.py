"""Work that is the same along a reduced axis is done once.

The gradient of what is tiled or repeated adds up cotangents, which are often the same for all tiles. Check:
a map's operands are the same along axes, and nothing reads its results but reductions over these.
Transformation: the map is without the axes, and sums over them are products.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod

from theano.link.native.ir.ir import Buffer, Scalar, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.results_of_maps import computed, result_in
from theano.link.native.passes.views_of_views import of_dimensions
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# Integers below it are float32's, too.
_EXACT = 2**24
# what gives the same for one as for many that are equal
_OF_ONE = ("maximum", "minimum", "and", "or")


def compute_repeated_once(segment: Segment) -> None:
    """Compute without the axes along which all is the same what is reduced over these."""
    step = segment.step
    maps = {one: _axes_of_same(one, step.sizes) for one in of_kind(step.statements, Map)}
    if not any(maps.values()):
        return
    readers: dict[Buffer, list[Statement]] = defaultdict(list)
    for statement in step.statements:
        for value in statement.values_read():
            if isinstance(value, View):
                readers[value.buffer.root()].append(statement)
    kept = {buffer.root() for buffer in returned_buffers(segment)}
    for statement, same in maps.items():
        if not same or any(one in kept or one.root() is not one for one in statement.written()):
            continue
        reductions: list[Reduce] = []
        for reader in (one for buffer in statement.written() for one in readers[buffer]):
            reduction = as_kind(reader, Reduce)
            if reduction is None or not _may_be_of_one(reduction):
                break
            reductions.append(reduction)
            same &= {*reduction.axes}
        else:
            if same and reductions:
                _leave_out(statement, same)
                for reduction in reductions:
                    _reduce_once(step, reduction, same)


def _axes_of_same(statement: Map, sizes: Sizes) -> set[int]:
    """Return the axes of known size along which all operands of a map are the same."""
    known = [
        d
        for d, size in enumerate(map(sizes.find, statement.shape))
        if isinstance(size, int) and 1 < size < _EXACT
    ]
    if not known:
        return set()
    views = [one for one in statement.values_read() if isinstance(one, View)]
    return {d for d in known if all(view.axes[d] is None for view in views)}


def _may_be_of_one(reduction: Reduce) -> bool:
    source, target = reduction.source, reduction.target
    if source.buffer.root() is not source.buffer or not source.whole:
        return False
    if not isinstance(target, View) or None in target.axes:
        return False
    if reduction.operation in _OF_ONE:
        return source.dtype == target.dtype == reduction.dtype
    return reduction.operation == "add" and source.dtype == target.dtype in FLOATS


def _leave_out(statement: Map, same: set[int]) -> None:
    """Leave out axes of a map, of its operands and its results."""
    kept = [d for d in range(len(statement.shape)) if d not in same]
    new: dict[int, View] = {}
    for view in statement.values_read():
        if isinstance(view, View):
            new[id(view)] = of_dimensions(view, kept, view.start)
    statement.replace_views(new)
    statement.shape = tuple(statement.shape[d] for d in kept)
    for buffer in statement.written():
        buffer.shape = statement.shape


def _reduce_once(step: Step, reduction: Reduce, same: set[int]) -> None:
    """Have a reduction be one over the axes that are left, after a product with the size of the others."""
    shape, source = reduction.source.shape, View.of(reduction.source.buffer)
    left = [d for d in range(len(shape)) if d not in same]
    axes = tuple(position for position, d in enumerate(left) if d in reduction.axes)
    sizes = [step.sizes.find(shape[d]) for d in same]
    count = prod(size for size in sizes if isinstance(size, int))
    last = reduction.operation == "add"
    if not last and axes:
        reduction.source, reduction.axes = source, axes
        return
    name, operation = ("mul", "multiply") if last else ("Identity", "first")
    expression = Expression(name, operation, source.dtype, source.dtype, True)
    operands: list[View | Scalar] = [source]
    operands += [step.constant(count, source.dtype)] if last else []
    target = reduction.target
    assert isinstance(target, View)
    result = step.temporary(source.dtype, source.shape) if axes else result_in(step, target)
    own = Map(source.shape, [computed(result, expression, operands)])
    step.origins[own] = step.origins.get(reduction)
    position = step.statements.index(reduction)
    if axes:
        step.statements.insert(position, own)
        reduction.source, reduction.axes = View.of(result), axes
    else:
        step.statements[position] = own
        step.origins.pop(reduction, None)
