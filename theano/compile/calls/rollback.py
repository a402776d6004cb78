"""Shared variables that a call which fails leaves as they were, with engines that undo nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def with_rollback(specs: Sequence[Any], mode: Any) -> Iterator[None]:
    """Let no rewrite have an operation write into a shared variable, while a function is made.

    An operation after it may fail. The variable's next value lies in its own memory then, and
    takes its place when all is computed.
    """
    # PyTensor asks for this while it rewrites, and afterwards for whether copies share values.
    states = [] if getattr(mode.linker, "undoes_failed_calls", False) else _states(specs)
    for spec in states:
        spec.mutable = False
    try:
        yield
    finally:
        for spec in states:
            spec.mutable = True


def _states(specs: Sequence[Any]) -> list[Any]:
    return [s for s in specs if getattr(s, "shared", False) and s.mutable and s.update is not None]
