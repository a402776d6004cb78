"""Element-wise work, and what is copied or combined element by element."""

from __future__ import annotations

from typing import Any

from theano.link.cuda.schedule.elements import over_elements
from theano.link.cuda.schedule.registry import Block, schedules
from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.loop_nests import Apply, Node, Store, Value
from theano.link.native.ir.partitions import Share
from theano.link.native.schedule.accumulate import accumulation
from theano.link.native.schedule.elements import Operands
from theano.link.native.schedule.map import Elements
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.map import Map


@schedules(Map)
def schedule_map(statement: Map, block: Block, share: Share | None) -> list[Any]:
    """Return the computations in one pass over the block's elements."""
    elements = Elements(statement, block.fixed.sizes)
    return over_elements(statement.shape, elements.operands, elements.of_one, share, block)


@schedules(Copy)
def schedule_copy(statement: Copy, block: Block, share: Share | None) -> list[Any]:
    """Return a copy; to memory that may be the same it changes nothing."""
    return written(statement.target, statement.source, None, block, share)


@schedules(Combine)
def schedule_combine(statement: Combine, block: Block, share: Share | None) -> list[Any]:
    return written(statement.target, statement.source, statement.operation, block, share)


def written(
    target: View, source: View | Scalar, operation: str | None, block: Block, share: Share | None
) -> list[Any]:
    """Return what writes a block's elements of a view, or combines them with a source."""
    operands = Operands(block.fixed.sizes)
    to = operands.add(target)
    given = operands.add(stretched(source, target, block)) if isinstance(source, View) else None

    def inner(strides: list[Product]) -> list[Node]:
        left = operands.element(to, strides[to])
        value: Value = left
        if given is not None:
            value = operands.element(given, strides[given])
        elif isinstance(source, Scalar):
            value = source
        if operation is not None:
            value = Apply(accumulation(operation, target.dtype), (left, value))
        return [Store(left.pointer, left.index, value)]

    return over_elements(target.shape, operands, inner, share, block)


def stretched(source: View, target: View, block: Block) -> View:
    """Return a view broadcast to another's shape."""
    axes = tuple(
        None if block.fixed.sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)
