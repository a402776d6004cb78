"""The elements of a shape as one loop of a block's lanes, in as few dimensions as memory allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from theano.link.cuda.nodes import ForLanes
from theano.link.cuda.schedule.registry import Block
from theano.link.native.ir import loop_nests as nests
from theano.link.native.ir.layout import Product, collapsed, marks
from theano.link.native.ir.loop_nests import If, Node, Number, named
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.symbolic import Operation, Size, compared, difference, product_of, sum_of
from theano.link.native.schedule.elements import Operands
from theano.support.data_classes import dataclass

# makes what is done with the element at ``i``, given the strides of operands along the last dimension
Inner = Callable[[list[Product]], list[Node]]


@dataclass(frozen=True)
class Level:
    """One of the dimensions of a pass.

    Attributes
    ----------
    first, count
        Where a block begins, and how many elements it has at most.
    end
        Where it ends, if it may have fewer.
    """

    index: str
    first: Size
    count: Size
    end: Size | None = None


def levels_of(
    shape: Sequence[Size], strides: list[tuple[Product, ...]], share: Share | None, block: Block
) -> tuple[list[Level], list[list[Product]]]:
    """Return the dimensions of a pass over a block's elements, and the strides of operands along each."""
    ranged = () if share is None else (marks(share.dimension, len(shape)),)
    extents, found = collapsed(tuple(shape), [*ranged, *strides], block.fixed.sizes)
    if not extents:
        return [Level("i", 0, 1)], [[Product(0)] for _ in strides]
    levels = [Level(f"i{k}", 0, extent) for k, extent in enumerate(extents)]
    if share is not None:
        marked, *found = found
        k = [mark.factor for mark in marked].index(1)
        end = None if block.is_even(share.first) else named(share.end)
        first, count = named(share.first), block.widest[share.first]
        levels[k] = Level(levels[k].index, first, count, end)
    levels[-1] = replace(levels[-1], index="i")
    return levels, found


def where_there_are(levels: Sequence[Level], body: Sequence[Any]) -> list[Any]:
    """Return what is done with an element, if the block has it."""
    ends = [(level.index, level.end) for level in levels if level.end is not None]
    for index, end in ends:
        body = [If(compared(named(index), "<", end), tuple(body))]
    return list(body)


def indices_from(position: Size, levels: Sequence[Level], prefix: str = "q") -> list[Node]:
    """Return what finds the indices of an element from its number in C order."""
    nodes: list[Node] = []
    rest = position
    for k, level in reversed(list(enumerate(levels))):
        index = rest
        if k:
            name = f"{prefix}{k}"
            nodes.append(Number(name, Operation("/", rest, level.count)))
            index = difference(rest, product_of(named(name), level.count))
            rest = named(name)
        nodes.append(Number(level.index, sum_of(level.first, index)))
    return nodes


def are_empty(levels: Sequence[Level], block: Block) -> bool:
    """Return whether there is no element in some dimensions."""
    return any(block.fixed.fold(level.count) == 0 for level in levels)


def count_of(levels: Sequence[Level]) -> Size:
    """Return how many elements a block has."""
    total: Size = 1
    for level in levels:
        total = product_of(total, level.count)
    return total


def over_elements(
    shape: Sequence[Size], operands: Operands, inner: Inner, share: Share | None, block: Block
) -> list[Any]:
    """Return a pass of lanes over a block's elements of a shape."""
    strides = [place.strides for place in operands.places]
    levels, found = levels_of(shape, strides, share, block)
    if are_empty(levels, block):
        return []
    around = [named(level.index) for level in levels[:-1]]
    element = [*operands.pointers(around, found), *inner([mine[-1] for mine in found])]
    body = [*indices_from(named("e"), levels), *where_there_are(levels, element)]
    return [nests.Block((ForLanes("e", count_of(levels), tuple(body)),))]  # type: ignore[arg-type]
