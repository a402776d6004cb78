"""A rough time of a step on one thread, which decides how many threads share it."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Size
from theano.link.native.statements.base import Statement, Work


def nanoseconds(statements: Iterable[Statement], sizes: Sizes) -> list[Work]:
    """Return the time of a step, by the sizes that it grows with."""
    # those of the same sizes together: repeated statements are most of a long program
    terms: dict[tuple[Size, ...], float] = {}
    for statement in statements:
        for work in statement.nanoseconds():
            factors = tuple(size for size in map(sizes.find, work.shape) if size != 1)
            terms[factors] = terms.get(factors, 0.0) + work.each
    return [Work(each, factors) for factors, each in terms.items()]


def known_nanoseconds(statements: Iterable[Statement], sizes: Sizes) -> float | None:
    """Return the time of a step all of whose sizes are known; None where one is not."""
    total = 0.0
    for statement in statements:
        for work in statement.nanoseconds():
            shape = [sizes.find(size) for size in work.shape]
            if not all(isinstance(size, int) for size in shape):
                return None
            total += work.each * prod(shape)  # type: ignore[arg-type]
    return total
