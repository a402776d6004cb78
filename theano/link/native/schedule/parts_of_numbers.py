"""A number that is made from many elements, of parts of them that threads share.

How many parts there are, and where they begin, depends on sizes only, and their results are put together
in their order: so a number has the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Apply,
    Assign,
    Declare,
    For,
    Let,
    Load,
    Local,
    Memory,
    Node,
    Number,
    Pointer,
    Store,
    Value,
    named,
)
from theano.link.native.ir.partitions import Parts
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Call, Size, product_of, product_of_all, sum_of
from theano.link.native.schedule.accumulate import accumulation, neutral
from theano.link.native.schedule.elements import range_of_thread
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.reduce import Reduce

# As many elements as one counts as that functions are computed of.
_FUNCTIONS = 16
# Elements of a part, and the most parts: TN_PART_OF_NUMBER and TN_PARTS_OF_NUMBER in prelude.inc.
_ELEMENTS = 2**15
_MOST = 64

# What a part begins and ends with, along the outermost dimension.
BEGIN, CLOSE = "begin", "close"
_PART, _PARTS = named("part"), named("parts")


def worth(statement: Reduce | MapReduce, sizes: Sizes) -> Size:
    """Return how many elements a pass has; of functions, which threads share sooner, more."""
    if isinstance(statement, Reduce):
        return product_of_all(map(sizes.find, statement.source.shape))
    functions = any(compute.operation.function for compute in statement.body)
    elements = product_of_all(map(sizes.find, statement.shape))
    return product_of(elements, _FUNCTIONS if functions else 1)


def is_in_parts(elements: Size) -> bool:
    """Return whether so many elements may be more than one part."""
    return not isinstance(elements, int) or elements >= 2 * _ELEMENTS


def bounds_of_part(size: Size, unit: int) -> list[Node]:
    """Return the bounds of a part along a dimension of which so much is not parted."""
    return [
        Number(name, Call("share", (size, unit, at, _PARTS)))
        for name, at in ((BEGIN, _PART), (CLOSE, sum_of(_PART, 1)))
    ]


def over_parts(
    reductions: Sequence[Reduce],
    elements: Size,
    body: Sequence[Node],
    of_part: Sequence[Value],
    share: Parts | None,
    polled: bool,
) -> list[Node]:
    """Return a loop over all parts of numbers, or over a thread's.

    Parameters
    ----------
    elements
        As `worth` says.
    body
        What finds the results of a part.
    of_part
        Those results.
    """
    parts = Number("parts", Call("parts_of_number", (elements,)))
    if share is not None:
        names = [name for name, _ in share.partials]
        materialized = [
            Store(name, _PART, value) for name, value in zip(names, of_part, strict=True)
        ]
        first, end = named(share.first), named(share.end)
        nest = For("part", first, end, (*body, *materialized), polled=polled)
        return [parts, *range_of_thread(_PARTS, 1), nest]
    nest = For("part", 0, _PARTS, (*body, *_taken(reductions, of_part)), polled=polled)
    return [parts, *_begun(reductions), nest, *_ended(reductions)]


def memory_of_parts(share: Parts) -> list[Node]:
    """Return the memory where threads leave the results of parts, under its names."""
    nodes: list[Node] = []
    for name, dtype in share.partials:
        memory = Memory(f"memory_of_{name}", dtype, _MOST)
        nodes += [memory, Pointer(name, dtype, memory.name)]
    return nodes


def declared(reductions: Sequence[Reduce]) -> list[Node]:
    """Return what declares the numbers of reductions."""
    return [Declare(one.expression, one.dtype) for one in _numbers(reductions)]


def put_together(reductions: Sequence[Reduce], elements: Size, share: Parts) -> list[Node]:
    """Return what makes numbers of the results that threads have left."""
    left = [Load(name, dtype, _PART) for name, dtype in share.partials]
    return [
        Number("parts", Call("parts_of_number", (elements,))),
        *_begun(reductions),
        For("part", 0, _PARTS, tuple(_taken(reductions, left))),
        *_ended(reductions),
    ]


def _numbers(reductions: Sequence[Reduce]) -> list[Scalar]:
    return [one.target for one in reductions if isinstance(one.target, Scalar)]


def _results(reductions: Sequence[Reduce]) -> list[tuple[Reduce, Local]]:
    """Return each reduction with the variable of its result."""
    return [(one, Local(f"result{k or ''}", one.dtype)) for k, one in enumerate(reductions)]


def _begun(reductions: Sequence[Reduce]) -> list[Node]:
    return [
        Let(result.name, one.dtype, neutral(one.operation, one.dtype), variable=True)
        for one, result in _results(reductions)
    ]


def _taken(reductions: Sequence[Reduce], of_part: Sequence[Value]) -> list[Node]:
    return [
        Assign(result.name, Apply(accumulation(one.operation, one.dtype), (result, value)))
        for (one, result), value in zip(_results(reductions), of_part, strict=True)
    ]


def _ended(reductions: Sequence[Reduce]) -> list[Node]:
    results = [result for _, result in _results(reductions)]
    numbers = _numbers(reductions)
    return [Assign(n.expression, result) for n, result in zip(numbers, results, strict=True)]
