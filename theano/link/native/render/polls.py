"""Long passes over elements poll for interrupts now and then, and end at one.

What they leave is of no use then, and the call knows it (tn_stops in runtime.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from theano.link.native.ir.symbolic import Size


def declared(polls: int) -> list[str]:
    """Return what a pass knows about its polls."""
    return ["int64_t since_poll = 0;", "int over = 0;"] if polls else []


def going_on(polls: int) -> str:
    """Return what the condition of each loop around the elements ends with."""
    return " && !over" if polls else ""


def unless_empty(sizes: Iterable[Size | str], loops: list[str]) -> list[str]:
    """Return loops that are not begun where one of some sizes is 0.

    There may be 2**40 rows without elements: no memory limits their number.
    """
    conditions = [f"{n} > 0" for n in sizes if not isinstance(n, int) or n <= 0]
    return [f"if ({' && '.join(conditions)}) {{", *loops, "}"] if conditions else loops


def in_blocks(
    polls: int, first: str, end: Size | str, inner: Callable[[str, str], list[str]]
) -> list[str]:
    """Return what ``inner`` writes for elements from one bound to another, with polls between them."""
    if not polls:
        return inner(first, str(end))
    if first == "0" and isinstance(end, int) and end <= polls:
        # a row of few elements, whose number the compiler knows
        return [*inner(first, str(end)), *poll_after(str(end), polls)]
    return [
        f"for (int64_t begin = {first}; begin < {end} && !over; begin += {polls}) {{",
        f"const int64_t close = tn_smaller(begin + {polls}, {end});",
        *inner("begin", "close"),
        *poll_after("close - begin", polls),
        "}",
    ]


def poll_after(elements: str, polls: int) -> list[str]:
    """Return what counts elements that are done, and polls where they are enough."""
    if not polls:
        return []
    stops = "{ since_poll = 0; over = runtime->stops(); }"
    return [f"since_poll += {elements};", f"if (since_poll >= {polls}) {stops}"]
