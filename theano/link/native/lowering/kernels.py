"""Loops in C for lowerings that write their own."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir import Size


def loops(names: Sequence[str], sizes: Sequence[Size], body: Sequence[str]) -> list[str]:
    """Loops around a body, one for each size, the last of them innermost."""
    heads = [
        f"for (int64_t {name} = 0; {name} < {size}; {name}++) {{"
        for name, size in zip(names, sizes, strict=True)
    ]
    return [*heads, *body, *["}"] * len(heads)]


def indices(prefix: str, count: int) -> list[str]:
    """Names of so many indices."""
    return [f"{prefix}{k}" for k in range(count)]
