"""Long passes over elements look up now and then whether a signal came, and end where one did.

What they leave is of no use then, and the call knows it (tn_stops in runtime.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from theano.link.native.ir.symbolic import Size


def declared(looks: int) -> list[str]:
    """What a pass knows about its looks."""
    return ["int64_t looked = 0;", "int over = 0;"] if looks else []


def going_on(looks: int) -> str:
    """What the condition of each loop around the elements ends with."""
    return " && !over" if looks else ""


def unless_empty(sizes: Iterable[Size | str], loops: list[str]) -> list[str]:
    """Loops that are not begun where one of some sizes is 0.

    There may be 2**40 rows without elements: no memory limits their number.
    """
    conditions = [f"{n} > 0" for n in sizes if not isinstance(n, int) or n <= 0]
    return [f"if ({' && '.join(conditions)}) {{", *loops, "}"] if conditions else loops


def in_blocks(
    looks: int, first: str, end: Size | str, inner: Callable[[str, str], list[str]]
) -> list[str]:
    """What ``inner`` writes for elements from one bound to another, with looks between them."""
    if not looks:
        return inner(first, str(end))
    if first == "0" and isinstance(end, int) and end <= looks:
        # a row of few elements, whose number the compiler knows
        return [*inner(first, str(end)), *look_after(str(end), looks)]
    return [
        f"for (int64_t begin = {first}; begin < {end} && !over; begin += {looks}) {{",
        f"const int64_t close = tn_smaller(begin + {looks}, {end});",
        *inner("begin", "close"),
        *look_after("close - begin", looks),
        "}",
    ]


def look_after(elements: str, looks: int) -> list[str]:
    """Count elements that are done, and look up where they are enough."""
    if not looks:
        return []
    stops = "{ looked = 0; over = runtime->stops(); }"
    return [f"looked += {elements};", f"if (looked >= {looks}) {stops}"]
