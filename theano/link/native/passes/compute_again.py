"""A map's result that takes little to compute from another one of its map is computed where it is read.

The gradient of a layer reads the layer's result `t` and `1 - t ** 2`, long after both were computed in
one pass. Check: some arithmetic with numbers on one other result, which has memory anyway; readers are
maps, and nothing writes that memory before them. Memory is never more: the one has no memory any more,
and the other is needed as long as the one was, at most. Transformation: readers compute it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import cast

import numpy as np

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP, Step
from theano.link.native.passes.dead_values import answered_buffers
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.map import Map

# operations on an element that take less time than to write it and read it again
MOST_AGAIN = 4


def compute_again(segment: Segment) -> None:
    """Have maps compute what was computed before from what they can read."""
    step = segment.step
    kept = {buffer.root() for buffer in answered_buffers(segment)}
    dependence = Dependence(segment)
    uses: dict[Buffer, list[Statement]] = defaultdict(list)
    for statement in step.statements:
        for root in {view.buffer.root() for view in statement.views()}:
            uses[root].append(statement)
    positions = {statement: position for position, statement in enumerate(step.statements)}
    for statement in of_kind(step.statements, Map):
        stored = {
            c: c.buffer
            for c in statement.body
            if c.buffer is not None and _has_memory(c.buffer, uses, statement)
        }
        for compute, buffer in list(stored.items()):
            again = _cheap(compute, stored)
            if again is None or buffer in kept or step.sizes.known_below(buffer.shape, FEW):
                continue
            source, tree = again
            readers = [one for one in uses[buffer] if one is not statement]
            end = max(map(positions.__getitem__, readers))
            needed = max(map(positions.__getitem__, uses[source.root()]))
            if (
                (needed >= end or _itemsize(source) <= _itemsize(buffer))
                and all(_may_compute(reader, buffer, len(tree)) for reader in readers)
                and not any(
                    dependence.memory(source) in dependence.writes(one)
                    for one in step.statements[positions[statement] + 1 : end + 1]
                )
            ):
                for reader in readers:
                    _compute_in(step, cast(Map, reader), buffer, source, tree)
                    dependence.forget(reader)
                uses[source] += readers
                del stored[compute]


def _has_memory(buffer: Buffer, uses: dict[Buffer, list[Statement]], statement: Statement) -> bool:
    """Return whether a result of a map is a temporary that other statements read."""
    return (
        buffer.role == "temporary"
        and buffer.root() is buffer
        and buffer.place is None
        and any(one is not statement for one in uses[buffer])
    )


def _itemsize(buffer: Buffer) -> int:
    return np.dtype(buffer.dtype).itemsize


def _cheap(compute: Compute, stored: dict[Compute, Buffer]) -> tuple[Buffer, list[Compute]] | None:
    """Return from which stored result one is computed by arithmetic alone, and what is done."""
    tree: dict[Compute, None] = {}
    sources: dict[Buffer, None] = {}

    def add(one: Compute) -> bool:
        if one is not compute and one in stored:
            sources[stored[one]] = None
            return True
        for operand in one.operands:
            if isinstance(operand, View) or isinstance(operand, Compute) and not add(operand):
                return False
        tree[one] = None
        return not one.operation.function and len(tree) <= MOST_AGAIN

    if not add(compute) or len(sources) != 1:
        return None
    return next(iter(sources)), list(tree)


def _may_compute(reader: Statement, buffer: Buffer, operations: int) -> bool:
    one = as_kind(reader, Map)
    views = [view for view in reader.views() if view.buffer.root() is buffer]
    return (
        one is not None
        and len(one.body) + operations * len(views) <= MOST_IN_A_MAP
        and all(view.buffer is buffer for view in views)
    )


def _compute_in(
    step: Step, reader: Map, buffer: Buffer, source: Buffer, tree: list[Compute]
) -> None:
    """Have a map compute what it reads of a buffer from the same elements of another one."""
    views = [
        one
        for compute in reader.body
        for one in compute.operands
        if isinstance(one, View) and one.buffer is buffer
    ]
    for view in views:
        there = View(source, view.shape, view.axes, view.steps, view.start)
        made: dict[Compute, Compute] = {}
        for compute in tree:
            operands: list[View | Scalar | Compute] = [
                made.get(one, there) if isinstance(one, Compute) else one
                for one in compute.operands
            ]
            new = step.temporary(compute.dtype, view.shape)
            made[compute] = compute.made_again(new, operands)
        for compute in reader.body:
            compute.operands = [made[tree[-1]] if one is view else one for one in compute.operands]
        reader.body[:0] = made.values()
