"""The functions that make a loop nest of a kind of statement: statements know nothing of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.configparser import config
from theano.link.native.ir.loop_nests import Node
from theano.link.native.ir.partitions import OuterRange, Parts, Rectangle, Share
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Name
from theano.link.native.spec.nests import verify_nest
from theano.link.native.statements.base import Statement

# takes the statement, the sizes that are known to be equal, whether long passes poll for interrupts
# themselves (in loops it is done between steps), and which part of it one of several threads does
Schedule = Callable[[Any, Sizes, bool, Any], Sequence[Node]]

_SCHEDULES: dict[type, Schedule] = {}
# takes the name of a kind's class, and imports what registers its function
_import_schedule: list[Callable[[str], None]] = []
# which are given the partition of a statement among threads, and say themselves what those do that have
# no part; the others are given a share, or nothing
_BY_EVERY_THREAD: set[type] = set()


def import_schedules_by(function: Callable[[str], None]) -> None:
    """Register what imports the function of a kind of statement that is used for the first time."""
    _import_schedule[:] = [function]


def schedules(*kinds: type, by_every_thread: bool = False) -> Callable[[Schedule], Schedule]:
    """Register a function as what makes nests of these kinds of statements."""

    def register(function: Schedule) -> Schedule:
        _SCHEDULES.update(dict.fromkeys(kinds, function))
        if by_every_thread:
            _BY_EVERY_THREAD.update(kinds)
        return function

    return register


def schedule_of(kind: type) -> Schedule | None:
    """Return the function for a kind of statement; None if it becomes no nest."""
    if kind not in _SCHEDULES:
        _import_schedule[0](kind.__name__)
    return _SCHEDULES.get(kind)


def is_by_every_thread(kind: type) -> bool:
    """Return whether the function of a kind is given the partition of it among threads."""
    return kind in _BY_EVERY_THREAD


def nest_of(statement: Statement, sizes: Sizes, polls: bool, share: Share | None) -> list[Node]:
    """Return what a statement, or a thread's share of it, is as a loop nest.

    Raises
    ------
    TypeError
        Where its kind becomes none.
    UnsoundNest
        Where ``native.verify`` is set, and the nest cannot be right.
    """
    schedule = schedule_of(type(statement))
    if schedule is None:
        raise TypeError(f"{type(statement).__name__} becomes no loop nest")
    nodes = list(schedule(statement, sizes, polls, share))
    if config.native.verify:
        _verify(nodes, statement, sizes, share)
    return nodes


def _verify(nodes: Sequence[Node], statement: Statement, sizes: Sizes, share: object) -> None:
    buffers = [*statement.memory_touched(), *(buffer.root() for buffer in statement.results())]
    names = statement.numbers_read() | names_of([s for one in buffers for s in one.strides or ()])
    names |= set() if share is None else {"thread", "threads"}
    if isinstance(share, Share) and not isinstance(share, OuterRange):
        names |= {share.first, share.end}
    if isinstance(share, Rectangle):
        names |= {share.top, share.bottom}

    def knows(name: str) -> bool:
        return name in names or sizes.knows(Name(name))

    memory = {one.name: one.dtype for one in buffers}
    if isinstance(share, Parts):
        memory |= dict(share.partials)
    verify_nest(nodes, memory, knows, statement.described())
