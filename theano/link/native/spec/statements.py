"""Verification of a lowered step, as far as its sizes are known when the code is made.

It is asked between passes where ``native.verify`` is set, as it always is in the tests.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.layout import c_order, place_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Statement


class UnsoundStep(AssertionError):
    """A lowering or a pass has made statements that cannot be right."""


def verify(step: Step, after: str) -> None:
    """Look at all statements of a step.

    Raises
    ------
    UnsoundStep
        With what made them, the first that is wrong, and what is wrong with it.
    """
    numbers: set[str] = set()
    written: set[Buffer] = set()
    for position, statement in enumerate(step.statements):
        wrong = (
            _unknown_numbers(step, statement, numbers)
            or _unwritten(statement, written)
            or _misplaced(statement, step.sizes)
            or _disagreeing(statement, step.sizes)
            or _unpacked(step, statement)
            or _with_gaps(statement, step.sizes)
        )
        if wrong:
            origin = step.origins.get(statement)
            of = "" if origin is None else f" of {origin.op}"
            raise UnsoundStep(
                f"after {after}, statement {position} of {step.name}{of}, "
                f"{statement.described()}: {wrong}"
            )
        numbers |= statement.numbers_defined()
        written |= {buffer.root() for buffer in statement.written()}


def _unknown_numbers(step: Step, statement: Statement, defined: set[str]) -> str:
    unknown = (statement.numbers_read() & set(step.number_types)) - defined
    return f"it reads {', '.join(sorted(unknown))} before it is defined" if unknown else ""


def _unwritten(statement: Statement, written: set[Buffer]) -> str:
    for value in statement.values_read():
        if isinstance(value, View):
            root = value.buffer.root()
            needs_none = root.role != "temporary" or root.may_be_unwritten or 0 in root.shape
            if not needs_none and root not in written:
                return f"it reads {value.buffer.name}, which nothing has written"
    return ""


def _misplaced(statement: Statement, sizes: Sizes) -> str:
    for view in statement.views():
        ranks = {len(view.shape), len(view.axes), len(view.steps)}
        if len(ranks) > 1 or len(view.start) != len(view.buffer.shape):
            return f"a view of {view.buffer.name} has {view.shape} along {view.axes}"
        last: list[Size] = list(view.start)
        for axis, step, size in zip(view.axes, view.steps, view.shape, strict=True):
            count, first = sizes.find(size), None if axis is None else last[axis]
            if axis is None or first is None or count == 0:
                continue
            if isinstance(first, int) and isinstance(count, int):
                ends = (first, first + (count - 1) * step)
                extent = sizes.find(view.buffer.shape[axis])
                if min(ends) < 0 or (isinstance(extent, int) and max(ends) >= extent):
                    return (
                        f"a view of {view.buffer.name} reaches from {ends[0]} to {ends[1]} along "
                        f"axis {axis}, whose size is {extent}"
                    )
    return ""


def _disagreeing(statement: Statement, sizes: Sizes) -> str:
    for a, b in statement.sizes_that_agree():
        first, second = sizes.find(a), sizes.find(b)
        if isinstance(first, int) and isinstance(second, int) and first != second:
            return f"sizes are {first} and {second} that must be the same"
    return ""


def _unpacked(step: Step, statement: Statement) -> str:
    position = statement.packed_operand()
    if position is not None and not 0 <= position < len(step.packed):
        return f"its operand is at {position} among {len(step.packed)} that are packed"
    return ""


def _with_gaps(statement: Statement, sizes: Sizes) -> str:
    for view in statement.views_without_gaps():
        if place_of(view, sizes).strides != c_order(view.shape, sizes):
            return f"it writes {view.buffer.name} without the gaps that there are between its rows"
    return ""
