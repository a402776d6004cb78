"""A reduction over a few elements is a map that reads each of them.

The gradient of what is repeated adds up neighbours, and that of what is tiled some distant elements. As a
map it is one pass with what computes the elements: that only slices are read of these, and each is computed
where it is read. Check: the number of elements is known, and the sum needs no other type. Transformation:
the first element, and operations with each of the others.
"""

from __future__ import annotations

from itertools import product
from math import prod

import pytensor.scalar as ps

from theano.link.native.ir.ir import Compute, Size, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.passes.results_of_maps import computed, result_in
from theano.link.native.passes.views_of_views import begins_before_statements, of_dimensions
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# so many elements are read one by one
LONGEST = 8
OPERATIONS = {
    "add": ps.add,
    "multiply": ps.mul,
    "maximum": ps.maximum,
    "minimum": ps.minimum,
}


def unroll_short_reductions(segment: Segment) -> None:
    """Have maps reduce a few elements whose number is known."""
    step = segment.step
    for statement in list(of_kind(step.statements, Reduce)):
        if _is_short(statement, step.sizes):
            own = _map_of(step, statement)
            step.origins[own] = step.origins.pop(statement, None)
            step.statements[step.statements.index(statement)] = own


def _is_short(statement: Reduce, sizes: Sizes) -> bool:
    target, source = statement.target, statement.source
    reduced = [sizes.find(source.shape[axis]) for axis in statement.axes]
    known = [size for size in reduced if isinstance(size, int)]
    if not known or len(known) < len(reduced) or not 2 <= prod(known) <= LONGEST:
        return False
    if not isinstance(target, View) or None in target.axes or statement.operation not in OPERATIONS:
        return False
    if sizes.known_below(source.shape, FEW) or not begins_before_statements(source, sizes):
        return False
    return statement.dtype == source.dtype == target.dtype != "bool" or _is_exact(statement, known)


def _is_exact(statement: Reduce, reduced: list[int]) -> bool:
    """Return whether two numbers of 24 bits are added: in more of them and rounded, it is the same."""
    assert isinstance(statement.target, View)
    types = statement.source.dtype, statement.dtype, statement.target.dtype
    return (
        statement.operation == "add"
        and types == ("float32", "float64", "float32")
        and prod(reduced) == 2
    )


def _map_of(step: Step, statement: Reduce) -> Map:
    source, target = statement.source, statement.target
    assert isinstance(target, View)
    dtype, shape = source.dtype, tuple(source.shape[d] for d in statement.kept)
    expression = expression_of(OPERATIONS[statement.operation], [dtype, dtype], dtype)
    first, *others = _elements(step, statement)
    body: list[Compute] = []
    so_far: View | Compute = first
    for number, one in enumerate(others, 1):
        last = number == len(others)
        result = result_in(step, target) if last else step.temporary(dtype, shape)
        so_far = computed(result, expression, [so_far, one])
        body.append(so_far)
    return Map(shape, body)


def _elements(step: Step, statement: Reduce) -> list[View]:
    """Return the views of which one element each is reduced to one."""
    source, sizes, found = statement.source, step.sizes, []
    reduced = [sizes.find(source.shape[axis]) for axis in statement.axes]
    for indices in product(*(range(size) for size in reduced if isinstance(size, int))):
        start: list[Size] = list(source.start)
        for d, index in zip(statement.axes, indices, strict=True):
            axis = source.axes[d]
            if axis is not None and index:
                start[axis] = sizes.binary(start[axis], "+", index * source.steps[d])
        found.append(of_dimensions(source, statement.kept, tuple(start)))
    return found
