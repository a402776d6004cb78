"""Partial results of neighbouring elements, which need not wait for one another.

The element at a position is taken into the lane of the position modulo their number; in the end one half of
the lanes is combined with the other. So a result has the same bits in vectors of any size and one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Call,
    For,
    Lanes,
    Let,
    Load,
    Local,
    Memory,
    Node,
    Number,
    Result,
    Store,
    Value,
    named,
)
from theano.link.native.ir.symbolic import Operation, Size, difference, sum_of
from theano.link.native.schedule.accumulate import accumulation, neutral, vector_function
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# TN_LANES_f32 and TN_LANES_f64 in vectors.inc; of other types those of doubles.
_LANES, _OTHERS = {"float32": 32}, 16

# makes the element at a position of a row
Element = Callable[[Size], Load]


def lanes_of(dtype: str) -> int:
    """Return how many lanes elements of a type are taken into."""
    return _LANES.get(dtype, _OTHERS)


@dataclass(frozen=True)
class PartialResults:
    """Partial results: what they begin with, how a row is taken into them, what ends them, and the result."""

    begin: Sequence[Node]
    row: Sequence[Node]
    end: Sequence[Node]
    total: Value


def in_vector_lanes(reduction: Reduce, row: Address, many: Size, name: str) -> PartialResults:
    """Return lanes in vectors, by functions of vectors.inc, of rows of so many elements side by side."""
    lanes = Address(name)
    return PartialResults(
        [
            Lanes(name, reduction.dtype, lanes_of(reduction.source.dtype)),
            Call(vector_function(reduction, "begin"), (lanes,)),
        ],
        [Call(vector_function(reduction, "row"), (lanes, row, 0, many))],
        [],
        Result(vector_function(reduction, "end"), reduction.dtype, (lanes,)),
    )


def one_total(reduction: Reduce, element: Element, many: Size, name: str) -> PartialResults:
    """Return one total of few elements, in their order."""
    total = Local(name, reduction.dtype)
    one = Assign(name, _both(reduction, total, element(named("k"))))
    first = neutral(reduction.operation, reduction.dtype)
    begin = [Let(name, reduction.dtype, first, variable=True)]
    return PartialResults(begin, [For("k", 0, many, (one,))], [], total)


def lanes_one_by_one(reduction: Reduce, element: Element, many: Size, name: str) -> PartialResults:
    """Return lanes in memory, for elements that lie apart or have no functions on vectors."""
    lane, whole = named("lane"), named("whole")
    lanes = lanes_of(reduction.source.dtype)
    mine = Load(name, reduction.dtype, lane)

    def each(count: Size, value: Value) -> Node:
        return For("lane", 0, count, (Store(name, lane, value),))

    def some(first: Size, count: Size) -> Node:
        return each(count, _both(reduction, mine, element(sum_of(first, lane))))

    def halved(count: int) -> Node:
        other = Load(name, reduction.dtype, sum_of(lane, count))
        return each(count, _both(reduction, mine, other))

    row: list[Node] = [
        Number("whole", Operation("*", Operation("/", many, lanes), lanes)),
        For("k", 0, whole, (some(named("k"), lanes),), by=lanes),
        some(whole, difference(many, whole)),
    ]
    first = neutral(reduction.operation, reduction.dtype)
    return PartialResults(
        [Memory(name, reduction.dtype, lanes), each(lanes, first)],
        row,
        [halved(lanes >> k) for k in range(1, lanes.bit_length())],
        Load(name, reduction.dtype),
    )


def _both(reduction: Reduce, a: Value, b: Value) -> Apply:
    return Apply(accumulation(reduction.operation, reduction.dtype), (a, b))
