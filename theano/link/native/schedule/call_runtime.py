"""Calls of a function of the runtime, one after the other over a stack."""

from __future__ import annotations

from theano.link.native.ir.layout import place_of
from theano.link.native.ir.loop_nests import (
    Address,
    Block,
    Call,
    Fail,
    If,
    Let,
    Node,
    Result,
    loops,
    named,
    times,
    unless_empty,
)
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size, compared, maximum, product_of_all, sum_of
from theano.link.native.schedule.elements import pointer_to
from theano.link.native.schedule.polls import between_polls, poll_after, with_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.call_runtime import CallRuntime, OfStack, Whole


@schedules(CallRuntime)
def schedule_calls(
    statement: CallRuntime, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    """Return loops over the stack, or over a thread's part of it, around the call."""
    every = between_polls() if polls and statement.stack else 0
    views = [*statement.writes, *statement.reads]
    places = [place_of(view, sizes) for view in views]
    names = [f"b{d}" for d in range(len(statement.stack))]

    def part(one: OfStack) -> list[Address | Size]:
        strides = places[one.array].strides
        index: Size = 0
        for name, stride in zip(names, strides, strict=False):
            index = sum_of(index, times(named(name), stride.size))
        own: list[Size] = [stride.size for stride in strides[len(names) :]]
        lacking = [0] * (one.strides - len(own))
        return [Address(f"x{one.array}", index), *own[: one.strides], *lacking]

    operands: list[Address | Size] = []
    for one in statement.arguments:
        if isinstance(one, OfStack):
            operands += part(one)
        else:
            operands.append(Address(f"x{one.array}") if isinstance(one, Whole) else one)
    elements: Size = product_of_all(statement.takes[0].shape)
    # also where there are none: a call takes its time
    elements = max(elements, 1) if isinstance(elements, int) else maximum(elements, 1)
    body = [*_call(statement, tuple(operands)), *poll_after(elements, every)]
    axes: list[tuple[str, Size, Size]] = [
        (name, 0, size) for name, size in zip(names, statement.stack, strict=True)
    ]
    if share is not None:
        axes[0] = names[0], named(share.first), named(share.end)
    pointers = [
        pointer_to(f"x{k}", view.dtype, place, (), ())
        for k, (view, place) in enumerate(zip(views, places, strict=True))
    ]
    work = {one.array for one in statement.arguments if isinstance(one, Whole)}
    results = [view for k, view in enumerate(statement.writes) if k not in work]
    ends = results[0].shape if len(results) == 1 else statement.stack[1:]
    nest = unless_empty(map(sizes.find, ends), loops(axes, body, bool(every)))
    return [Block((*pointers, *with_polls(every, nest)))]


def _call(statement: CallRuntime, operands: tuple[Address | Size, ...]) -> list[Node]:
    if statement.failure is None:
        return [Call(statement.function, operands, of_runtime=True)]
    done = Result(statement.function, "int64", operands, of_runtime=True)
    fails = If(compared(named("done"), "==", 0), (Fail(*statement.failure),))
    return [Let("done", "int64", done), fails]
