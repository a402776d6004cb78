"""Loops in C for lowerings that write their own."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.symbolic import Size
from theano.link.native.lowering.step import Step
from theano.link.native.text.looks import between_looks, going_on, in_blocks, unless_empty


def looks_of(step: Step) -> int:
    """For the functions below: 0 in a loop, which looks up for signals between its steps."""
    return 0 if step.repeats else between_looks()


def loops(
    names: Sequence[str], sizes: Sequence[Size | str], body: Sequence[str], looks: int = 0
) -> list[str]:
    """Loops around a body, one for each size, the last of them innermost.

    Where there are looks, they end once the body has found that a signal came.
    """
    heads = [
        f"for (int64_t {name} = 0; {name} < {size}{going_on(looks)}; {name}++) {{"
        for name, size in zip(names, sizes, strict=True)
    ]
    return unless_empty(sizes[1:], [*heads, *body, *["}"] * len(heads)])


def passes(
    names: Sequence[str], sizes: Sequence[Size | str], body: Sequence[str], looks: int
) -> list[str]:
    """The same around single elements, with looks between blocks of them."""
    if not looks or not names:
        return loops(names, sizes, body)
    *around, name = names

    def block(first: str, end: str) -> list[str]:
        return [f"for (int64_t {name} = {first}; {name} < {end}; {name}++) {{", *body, "}"]

    rows = loops(around, sizes[:-1], in_blocks(looks, "0", sizes[-1], block), looks)
    return unless_empty(sizes[-1:], rows) if around else rows


def indices(prefix: str, count: int) -> list[str]:
    """Names of so many indices."""
    return [f"{prefix}{k}" for k in range(count)]
