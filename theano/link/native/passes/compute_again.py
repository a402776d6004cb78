"""A map's result that takes little to compute, from another one of its map or from an array, is computed where it is read.

The gradient of a layer reads the layer's result `t` and `1 - t ** 2`, long after both were computed in
one pass; a normalization divides `x - mean` when its squares have been added up. Check: some arithmetic with
numbers on one other result, or, where nothing else is stored, with numbers and what is repeated along an axis on
one array, which has memory anyway; readers are maps, and nothing writes that memory before them. Memory is never
more, but for what is repeated: the one has no memory any more, and the other is needed as long as the one was, at
most. Transformation: readers compute it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import cast

import numpy as np

from theano.link.native.ir.ir import Buffer, Compute, Scalar, View
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import MOST_IN_A_MAP, Step
from theano.link.native.passes.dead_values import returned_buffers
from theano.link.native.passes.dependence import Dependence
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# operations on an element that take less time than to write it and read it again
MOST_AGAIN = 4
# what is done with what is repeated along an axis
_SUMS = ("add", "subtract", "multiply")


def compute_again(segment: Segment) -> None:
    """Have maps compute what was computed before from what they can read."""
    step = segment.step
    kept = {buffer.root() for buffer in returned_buffers(segment)}
    dependence = Dependence(segment)
    uses: dict[Buffer, list[Statement]] = defaultdict(list)
    for statement in step.statements:
        for root in {view.buffer.root() for view in statement.views()}:
            uses[root].append(statement)
    positions = {statement: position for position, statement in enumerate(step.statements)}
    for statement in of_kind(step.statements, Map):
        materialized = {
            c: c.buffer
            for c in statement.body
            if c.buffer is not None and _has_memory(c.buffer, uses, statement)
        }
        for compute, buffer in list(materialized.items()):
            again = _cheap(compute, materialized)
            if again is None or buffer in kept or step.sizes.known_below(buffer.shape, FEW):
                continue
            readers = [one for one in uses[buffer] if one is not statement]
            end = max(map(positions.__getitem__, readers))
            between = step.statements[positions[statement] + 1 : end + 1]
            written = {memory for one in between for memory in dependence.writes(one)}
            needed = max(map(positions.__getitem__, uses[again.source.root()]))
            if (
                (needed >= end or again.replaces(buffer))
                and (not again.views or _others_are_reduced(materialized, compute, uses, statement))
                and all(_may_compute(reader, buffer, again) for reader in readers)
                and written.isdisjoint(map(dependence.memory, again.read()))
            ):
                for reader in readers:
                    _compute_in(step, cast(Map, reader), buffer, again)
                    dependence.forget(reader)
                for one in again.read():
                    uses[one.root()] += readers
                del materialized[compute]


@dataclass(frozen=True)
class _Again:
    """The computations of a result where it is read again.

    Attributes
    ----------
    source
        The array of which it is made, as large as the result.
    tree
        What is done, each after what it needs.
    views
        What is read in place of another result, if that is not the source.
    """

    source: Buffer
    tree: list[Compute]
    views: tuple[View, ...] = ()

    def read(self) -> set[Buffer]:
        return {self.source, *(view.buffer for view in self.views)}

    def replaces(self, buffer: Buffer) -> bool:
        """Return whether the source is a result that may be kept where the buffer was, or is there anyway."""
        if self.views:
            return self.source.root().role != "temporary"
        return _itemsize(self.source) <= _itemsize(buffer)


def _has_memory(buffer: Buffer, uses: dict[Buffer, list[Statement]], statement: Statement) -> bool:
    """Return whether a result of a map is a temporary that other statements read."""
    return (
        buffer.role == "temporary"
        and buffer.root() is buffer
        and buffer.place is None
        and any(one is not statement for one in uses[buffer])
    )


def _others_are_reduced(
    materialized: dict[Compute, Buffer],
    compute: Compute,
    uses: dict[Buffer, list[Statement]],
    statement: Map,
) -> bool:
    """Return whether a map stores nothing else: to write two results takes not much longer than one.

    What functions compute is stored before it is reduced.
    """
    if any(one.operation.function for one in statement.body):
        return False
    others = [buffer for one, buffer in materialized.items() if one is not compute]
    readers = [one for buffer in others for one in uses[buffer] if one is not statement]
    return bool(readers) and all(as_kind(one, Reduce) is not None for one in readers)


def _itemsize(buffer: Buffer) -> int:
    return np.dtype(buffer.dtype).itemsize


def _cheap(compute: Compute, materialized: dict[Compute, Buffer]) -> _Again | None:
    """Return how arithmetic alone computes one from a stored result, or from an array and what is repeated."""
    tree: dict[Compute, None] = {}
    sources: dict[Buffer, None] = {}
    views: dict[View, None] = {}

    def add(one: Compute) -> bool:
        if one is not compute and one in materialized:
            sources[materialized[one]] = None
            return True
        for operand in one.operands:
            if isinstance(operand, View):
                views[operand] = None
            elif isinstance(operand, Compute) and not add(operand):
                return False
        tree[one] = None
        return not one.operation.function and len(tree) <= MOST_AGAIN

    if not add(compute) or bool(sources) is bool(views):
        return None
    if views:
        arrays = [view for view in views if None not in view.axes]
        if len(arrays) != 1 or not all(one.operation.operation in _SUMS for one in tree):
            return None
        return _Again(arrays[0].buffer, list(tree), tuple(views))
    return _Again(next(iter(sources)), list(tree)) if len(sources) == 1 else None


def _may_compute(reader: Statement, buffer: Buffer, again: _Again) -> bool:
    one = as_kind(reader, Map)
    views = [view for view in reader.views() if view.buffer.root() is buffer]
    return (
        one is not None
        and len(one.body) + len(again.tree) * len(views) <= MOST_IN_A_MAP
        and all(view.buffer is buffer for view in views)
        and (not again.views or all(view.whole for view in views))
    )


def _compute_in(step: Step, reader: Map, buffer: Buffer, again: _Again) -> None:
    """Have a map compute what it reads of a buffer from the same elements of another one."""
    views = [
        one
        for compute in reader.body
        for one in compute.operands
        if isinstance(one, View) and one.buffer is buffer
    ]
    for view in views:
        there = View(again.source, view.shape, view.axes, view.steps, view.start)
        made: dict[Compute, Compute] = {}
        for compute in again.tree:
            operands: list[View | Scalar | Compute] = [
                made.get(one, there) if isinstance(one, Compute) else one
                for one in compute.operands
            ]
            new = step.temporary(compute.dtype, view.shape)
            made[compute] = compute.made_again(new, operands)
        for compute in reader.body:
            compute.operands = [
                made[again.tree[-1]] if one is view else one for one in compute.operands
            ]
        reader.body[:0] = made.values()
