"""Results about the steps of loops while a graph is rewritten: made once for equal steps.

The layers of a network are loops whose steps are equal and whose names are not. Their normal forms
are written in the same variables, so that a rewrite that does the same to each of them finds what
it made for the first: a step with values read from outside, an op's graph, facts about values.
What a loop is called, and what it is given, stays with each loop.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

Made = TypeVar("Made")

# of the loops that were looked at last; each keeps a step in memory
MOST_KEPT = 256
_made: dict[Hashable, object] = {}


def once_for_equal_steps(key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what was made for a key, made now if it is asked for the first time.

    Parameters
    ----------
    key
        All that the result depends on. Variables are distinguished, not compared.
    make
        Makes it; nobody changes what it returns.
    """
    known = _made.get(key)
    if known is not None:
        return known  # type: ignore[return-value]
    made = make()
    while len(_made) >= MOST_KEPT:
        _made.pop(next(iter(_made)), None)
    _made[key] = made
    return made


def forget_equal_steps() -> None:
    """Forget all that was made, which is memory that nothing needs any more."""
    _made.clear()
