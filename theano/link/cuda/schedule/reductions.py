"""Reductions: each result is made of slices, one for each of some lanes, and then of these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from theano.link.cuda.nodes import ForLanes, Scratch, Sync
from theano.link.cuda.schedule.elements import (
    Level,
    are_empty,
    count_of,
    indices_from,
    levels_of,
    where_there_are,
)
from theano.link.cuda.schedule.registry import Block, schedules
from theano.link.native.ir import loop_nests as nests
from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Place, Product, place_of
from theano.link.native.ir.loop_nests import (
    Apply,
    Assign,
    Declare,
    For,
    Let,
    Load,
    Local,
    Node,
    Number,
    Store,
    Value,
    named,
)
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Operation, difference, product_of, sum_of
from theano.link.native.schedule.accumulate import accumulation, neutral
from theano.link.native.schedule.elements import Operands, pointer_to
from theano.link.native.schedule.map import Elements
from theano.link.native.schedule.reduce import reductions_of
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.reduce import Reduce

# every lane adds up the slices of a number for itself
_SLICES_OF_A_NUMBER = 32


@schedules(Reduce, MapReduce)
def schedule_reduction(
    statement: Reduce | MapReduce, block: Block, share: Share | None
) -> list[Any]:
    """Return a pass over the elements, and one over the slices."""
    pass_ = _Reduction(statement, block, share)
    target = pass_.reduction.target
    if isinstance(target, Scalar):
        declared = Declare(target.expression, target.dtype)
        return [declared, nests.Block(tuple(pass_.nodes()))]
    return [nests.Block(tuple(pass_.nodes()))]


class _Reduction:
    """One reduction of a block."""

    def __init__(self, statement: Reduce | MapReduce, block: Block, share: Share | None):
        (reduction,) = reductions_of(statement)
        self.reduction = reduction
        self.block, self.share, sizes = block, share, block.fixed.sizes
        self.elements: Elements | None = None
        if isinstance(statement, MapReduce):
            self.elements = Elements(statement, sizes)
            self.operands = self.elements.operands
            self.summed = statement.body.index(statement.reduced[0][1])
            self.shape = statement.shape
        else:
            self.operands = Operands(sizes)
            self.source = self.operands.add(reduction.source)
            self.shape = reduction.source.shape
        of_target = self._strides_of_target()
        places = [place.strides for place in self.operands.places]
        self.levels, found = levels_of(self.shape, [of_target, *places], share, block)
        self.of_target, *self.strides = found
        self.slices = self._slices()

    def _strides_of_target(self) -> tuple[Product, ...]:
        """Return the strides of the target along the dimensions of the source; 0 along those that go."""
        target, kept = self.reduction.target, self.reduction.kept
        own = iter(self._place.strides if isinstance(target, View) else ())
        return tuple(next(own) if d in kept else Product(0) for d in range(len(self.shape)))

    @property
    def _place(self) -> Place:
        assert isinstance(self.reduction.target, View)
        return place_of(self.reduction.target, self.block.fixed.sizes)

    @property
    def kept(self) -> list[Level]:
        pairs = zip(self.levels, self.of_target, strict=True)
        return [level for level, stride in pairs if stride.factor]

    @property
    def reduced(self) -> list[Level]:
        pairs = zip(self.levels, self.of_target, strict=True)
        return [level for level, stride in pairs if not stride.factor]

    def _slices(self) -> int:
        """Return of how many slices each result is made."""
        block, axes = self.block, self.reduction.axes
        extents = [block.extent(self.share, d, size) for d, size in enumerate(self.shape)]
        many = math.prod(extents[d] for d in axes)
        results = math.prod(extents[d] for d in range(len(extents)) if d not in axes)
        most = max(block.lanes // max(results, 1), 1)
        if isinstance(self.reduction.target, Scalar):
            most = min(most, _SLICES_OF_A_NUMBER)
        slices = max(min(most, many), 1)
        block.needs(results * slices, np.dtype(self.reduction.dtype).itemsize)
        return slices

    # ---- nodes ----

    def nodes(self) -> list[Any]:
        if are_empty(self.kept, self.block):
            return []
        dtype, count = self.reduction.dtype, product_of(count_of(self.kept), self.slices)
        add = For("r", named("slice"), count_of(self.reduced), self._each(), by=self.slices)
        every = [
            Let("sum", dtype, neutral(self.reduction.operation, dtype), variable=True),
            *([] if are_empty(self.reduced, self.block) else [add]),
            Store("partials", named("e"), Local("sum", dtype)),
        ]
        body = (*self._kept_and_slice(), *where_there_are(self.kept, every))
        return [Scratch("partials", dtype), ForLanes("e", count, body), Sync(), *self._ends()]

    def _kept_and_slice(self) -> list[Node]:
        result, e = named("result"), named("e")
        slice_ = difference(e, product_of(result, self.slices))
        return [
            Number("result", Operation("/", e, self.slices)),
            Number("slice", slice_),
            *indices_from(result, self.kept),
        ]

    def _each(self) -> tuple[Node, ...]:
        """Return what is done with each element of a slice."""
        around = [named(level.index) for level in self.levels[:-1]]
        nodes: list[Node] = [*indices_from(named("r"), self.reduced, "u")]
        nodes += self.operands.pointers(around, self.strides)
        last = [mine[-1] for mine in self.strides]
        if self.elements is None:
            value: Value = self.operands.element(self.source, last[self.source])
        else:
            nodes += self.elements.of_one(last)
            summed = self.elements.statement.body[self.summed]
            value = Local(f"e{self.summed}", summed.dtype)
        return (*nodes, self._add(value))

    def _add(self, value: Value) -> Assign:
        dtype = self.reduction.dtype
        accumulate = accumulation(self.reduction.operation, dtype)
        return Assign("sum", Apply(accumulate, (Local("sum", dtype), value)))

    def _ends(self) -> list[Any]:
        """Return what makes results of slices."""
        dtype, target = self.reduction.dtype, self.reduction.target
        total: Value = Local("sum", dtype)
        if target.dtype != dtype:
            total = Apply(Expression("cast", "cast", None, target.dtype), (total,))
        begin = Let("sum", dtype, neutral(self.reduction.operation, dtype), variable=True)
        if isinstance(target, Scalar):
            partial = Load("partials", dtype, named("k"))
            add = For("k", 0, self.slices, (self._add(partial),))
            return [begin, add, Assign(target.expression, total)]
        at = sum_of(product_of(named("e"), self.slices), named("k"))
        add = For("k", 0, self.slices, (self._add(Load("partials", dtype, at)),))
        indices = [named(level.index) for level in self.kept]
        strides = [stride for stride in self.of_target if stride.factor]
        result = pointer_to("result", target.dtype, self._place, indices, strides)
        found = where_there_are(self.kept, [begin, add, result, Store("result", 0, total)])
        body = (*indices_from(named("e"), self.kept), *found)
        return [ForLanes("e", count_of(self.kept), body)]
