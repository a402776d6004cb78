"""Long passes over elements poll for interrupts now and then, and end where the call is to end.

What they leave is of no use then, and the call knows it (tn_stops in runtime.h).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.loop_nests import For, Node, Number, Poll, Polled, named
from theano.link.native.ir.symbolic import Call, Size, difference, sum_of

# Elements of a copy, and of as much work, between polls: a fraction of a millisecond, since what
# follows may be as short.
_ELEMENTS = 2**17
_FEWEST_ELEMENTS = 2**12


def between_polls(operations: int = 0) -> int:
    """Return how many elements of a pass with so many operations on each lie between two polls.

    The functions below take this number, or 0 for a pass that never polls.
    """
    return max(_ELEMENTS >> operations.bit_length(), _FEWEST_ELEMENTS)


def with_polls(every: int, nodes: Sequence[Node]) -> list[Node]:
    """Return nodes among which there are polls, if there are."""
    return [Polled(tuple(nodes))] if every else list(nodes)


def poll_after(elements: Size, every: int) -> list[Node]:
    """Return what counts elements that are done, and polls where they are enough."""
    return [Poll(elements, every)] if every else []


def in_blocks(
    every: int, first: Size, end: Size, inner: Callable[[Size, Size], list[Node]]
) -> list[Node]:
    """Return what ``inner`` makes for elements from one bound to another, with polls between them."""
    if not every:
        return inner(first, end)
    if first == 0 and isinstance(end, int) and end <= every:
        # a row of few elements, whose number the compiler knows
        return [*inner(first, end), *poll_after(end, every)]
    begin, close = named("begin"), named("close")
    body = [
        Number("close", Call("smaller", (sum_of(begin, every), end))),
        *inner(begin, close),
        *poll_after(difference(close, begin), every),
    ]
    return [For("begin", first, end, tuple(body), by=every, polled=True)]
