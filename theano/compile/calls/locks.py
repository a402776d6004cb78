"""Threads that use the same shared variables lock them.

A call claims all that it uses at once, so that no two calls ever hold what the other waits for, in
whatever order they use it. Calls that only read go side by side; one that writes a variable is alone
with it. Threads that wait are served in the order in which they came.

A handler may run between any two statements of these, even where the mutex is held: what it takes it
gives back, and those whom it lets go on need not be let go on again. It may raise an error even before a
call's first statement of giving back: what nobody holds any more has ended, too.

A thread is never stopped by what it has claimed itself: an operation of a function, or a signal's
handler, may call the function again, or set a variable that it uses. Only there can two threads wait
for one another, and the second of them gets an error.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any


@dataclass(frozen=True, eq=False, slots=True)
class Claim:
    """The storage cells, or functions, that a call reads and those that it writes, by their ids."""

    reads: frozenset[int]
    writes: frozenset[int]

    def conflicts_with(self, other: Claim) -> bool:
        """Return whether one writes what the other uses."""
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


# One call's use of its claim, which is distinguished from other uses of the same claim by identity.
Hold = list[Claim]


_one_in_a_list: list[Hold] = [[]]
_ONLY_IN_A_LIST = sys.getrefcount(_one_in_a_list[0])


@dataclass(eq=False)
class _Waiting:
    thread: int
    hold: Hold
    granted: threading.Lock = field(default_factory=threading.Lock)


class _Locks:
    def __init__(self) -> None:
        # a signal's handler may call functions while this thread holds it
        self.mutex = threading.RLock()
        # by thread, from the outermost call in
        self.held: dict[int, list[Hold]] = {}
        self.waiting: list[_Waiting] = []

    def take(self, hold: Hold) -> int:
        """Take a hold; return in how many of the same claim this thread already is."""
        thread = get_ident()
        with self.mutex:
            if self.held:
                self._end_those_left()
            own = self.held.get(thread)
            alone = not self.waiting and len(self.held) == (own is not None)
            if alone or not self._stopped(thread, hold, self.waiting):
                if own is None:
                    self.held[thread] = [hold]
                    return 0
                own.append(hold)
                return self._within(thread, hold)
            if own is not None and self._is_waited_for(thread, hold):
                raise RuntimeError(
                    "Two threads wait for shared variables that the other one uses: a function "
                    "calls another, or sets a value, while it runs. Let the outer function use "
                    "those variables, too."
                )
            waiting = _Waiting(thread, hold)
            waiting.granted.acquire()
            self.waiting.append(waiting)
        try:
            waiting.granted.acquire()
        finally:
            with self.mutex:
                if waiting in self.waiting:
                    # Ctrl-C: nobody is to wait behind it
                    self.waiting.remove(waiting)
                    self._grant()
        return self._within(thread, hold)

    def _within(self, thread: int, hold: Hold) -> int:
        return sum(held[0] is hold[0] for held in self.held[thread]) - 1

    def give_back(self, hold: Hold) -> None:
        """End a hold, if it was taken at all."""
        try:
            self._end(hold)
        except BaseException:
            # Ctrl-C while it waited for the mutex
            self._end(hold)
            raise

    def _end(self, hold: Hold) -> None:
        thread = get_ident()
        with self.mutex:
            own = self.held.get(thread)
            # the last, but for one that was never taken
            if own and own[-1] is hold:
                own.pop()
                if not own:
                    self.held.pop(thread, None)
            if self.waiting:
                self._grant()

    def _end_those_left(self) -> None:
        """End holds of calls that have ended: Ctrl-C may come where one is about to give its hold back."""
        left = False
        for thread, holds in list(self.held.items()):
            for k in range(len(holds) - 1, -1, -1):
                if sys.getrefcount(holds[k]) == _ONLY_IN_A_LIST:
                    del holds[k]
                    left = True
            if not holds:
                self.held.pop(thread, None)
        if left and self.waiting:
            self._grant()

    def _grant(self) -> None:
        """Let those go on whom nothing stops any more."""
        for waiting in list(self.waiting):
            with suppress(ValueError):
                before = self.waiting[: self.waiting.index(waiting)]
                if not self._stopped(waiting.thread, waiting.hold, before):
                    self.waiting.remove(waiting)
                    self.held.setdefault(waiting.thread, []).append(waiting.hold)
                    waiting.granted.release()

    def _stopped(self, thread: int, hold: Hold, before: list[_Waiting]) -> bool:
        if any(self._stop(thread, hold)):
            return True
        # who holds something already must not wait for those that wait for it
        return thread not in self.held and any(w.hold[0].conflicts_with(hold[0]) for w in before)

    def _stop(self, thread: int, hold: Hold) -> Iterator[int]:
        """Yield the threads that a hold has to wait for."""
        for other, holds in self.held.items():
            if other != thread and any(held[0].conflicts_with(hold[0]) for held in holds):
                yield other

    def _is_waited_for(self, thread: int, hold: Hold) -> bool:
        """Return whether those that a hold has to wait for wait for its thread, one through the other."""
        holds = {waiting.thread: waiting.hold for waiting in self.waiting}
        reached: set[int] = set()
        ahead = list(self._stop(thread, hold))
        while ahead:
            other = ahead.pop()
            if other == thread:
                return True
            if other not in reached and other in holds:
                reached.add(other)
                ahead += self._stop(other, holds[other])
        return False


_locks = _Locks()
take, give_back = _locks.take, _locks.give_back


def _forget_other_threads() -> None:
    """After a fork this thread is the only one."""
    own = _locks.held.get(get_ident())
    _locks.mutex = threading.RLock()
    _locks.held = {} if own is None else {get_ident(): own}
    _locks.waiting = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def lock_of(claim: Claim) -> Iterator[None]:
    """Hold what a claim names for as long as the context lasts."""
    hold = [claim]
    try:
        take(hold)
        yield
    finally:
        give_back(hold)


class Locked:
    """A shared variable whose value is read and set between calls, and not while one runs."""

    container: Any

    def get_value(self, *args: object, **kwargs: object) -> Any:
        """Return the value."""
        with lock_of(reading(self.container.storage)):
            return super().get_value(*args, **kwargs)  # type: ignore[misc]

    def set_value(self, *args: object, **kwargs: object) -> None:
        """Replace the value."""
        with lock_of(writing(self.container.storage)):
            super().set_value(*args, **kwargs)  # type: ignore[misc]


def reading(cell: list[Any]) -> Claim:
    """Claim to read what lies in a storage cell."""
    return Claim(frozenset((id(cell),)), frozenset())


def writing(cell: list[Any]) -> Claim:
    """Return the claim to write what lies in a storage cell."""
    return Claim(frozenset(), frozenset((id(cell),)))
