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
from theano.link.native.ir.symbolic import Call, Size, product_of_all, sum_of
from theano.link.native.schedule.accumulate import accumulation, neutral
from theano.link.native.schedule.elements import range_of_thread
from theano.link.native.statements.reduce import Reduce

# Elements of a part, and the most parts: TN_PART_OF_NUMBER and TN_PARTS_OF_NUMBER in prelude.inc.
_ELEMENTS = 2**15
_MOST = 64

# What a part begins and ends with, along the outermost dimension.
BEGIN, CLOSE = "begin", "close"
_PART, _PARTS = named("part"), named("parts")


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
    reduction: Reduce,
    elements: Size,
    body: Sequence[Node],
    of_part: Value,
    share: Parts | None,
    polled: bool,
) -> list[Node]:
    """Return a loop over all parts of a number, or over a thread's.

    Parameters
    ----------
    body
        What finds the result of a part.
    of_part
        That result.
    """
    parts = Number("parts", Call("parts_of_number", (elements,)))
    if share is not None:
        materialized = Store(share.partials, _PART, of_part)
        first, end = named(share.first), named(share.end)
        nest = For("part", first, end, (*body, materialized), polled=polled)
        return [parts, *range_of_thread(_PARTS, 1), nest]
    result = _taken(reduction, of_part)
    nest = For("part", 0, _PARTS, (*body, result), polled=polled)
    return [parts, _begun(reduction), nest, _ended(reduction)]


def memory_of_parts(share: Parts) -> list[Node]:
    """Return the memory where threads leave the results of parts, under its name."""
    memory = Memory("memory_of_parts", share.dtype, _MOST)
    return [memory, Pointer(share.partials, share.dtype, memory.name)]


def declared(reduction: Reduce) -> list[Node]:
    """Return what declares the number of a reduction."""
    target = reduction.target
    assert isinstance(target, Scalar)
    return [Declare(target.expression, target.dtype)]


def put_together(reduction: Reduce, share: Parts, sizes: Sizes) -> list[Node]:
    """Return what makes the number of the results that threads have left."""
    elements = product_of_all(map(sizes.find, reduction.source.shape))
    result = _taken(reduction, Load(share.partials, share.dtype, _PART))
    return [
        Number("parts", Call("parts_of_number", (elements,))),
        _begun(reduction),
        For("part", 0, _PARTS, (result,)),
        _ended(reduction),
    ]


def _begun(reduction: Reduce) -> Let:
    first = neutral(reduction.operation, reduction.dtype)
    return Let("result", reduction.dtype, first, variable=True)


def _taken(reduction: Reduce, of_part: Value) -> Assign:
    both = accumulation(reduction.operation, reduction.dtype)
    return Assign("result", Apply(both, (Local("result", reduction.dtype), of_part)))


def _ended(reduction: Reduce) -> Assign:
    assert isinstance(reduction.target, Scalar)
    return Assign(reduction.target.expression, Local("result", reduction.dtype))
