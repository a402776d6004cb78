"""How long a step takes on one thread, roughly: what decides how many threads share it."""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import Statement


def nanoseconds(statements: Iterable[Statement], sizes: Sizes) -> str:
    """The time of a step as a C expression of its sizes."""
    terms = []
    for statement in statements:
        for work in statement.nanoseconds():
            factors = [str(size) for size in map(sizes.find, work.shape) if size != 1]
            terms.append(" * ".join([f"{work.each:.3g}", *factors]))
    return " + ".join(terms) or "0.0"
