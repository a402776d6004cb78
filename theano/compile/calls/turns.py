"""Threads that use the same shared variables take turns.

A call claims all that it uses at once, so that no two calls ever hold what the other waits for, in
whatever order they use it. Calls that only read go side by side; one that writes a variable is alone
with it. Threads that wait are served in the order in which they came.

A handler may run between any two statements of these, even where the mutex is held: what it takes it
gives back, and those whom it lets go on need not be let go on again.

A thread is never stopped by what it has claimed itself: an operation of a function, or a signal's
handler, may call the function again, or set a variable that it uses. Only there can two threads wait
for one another, and the second of them gets an error.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any


@dataclass(frozen=True, eq=False, slots=True)
class Claim:
    """What a call reads and what it writes, by the ids of storage cells, or of functions."""

    reads: frozenset[int]
    writes: frozenset[int]

    def meets(self, other: Claim) -> bool:
        """Whether one writes what the other uses."""
        return not (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


# One call's use of its claim, which is told from other uses of the same claim by identity.
Turn = list[Claim]


@dataclass(eq=False)
class _Waiting:
    thread: int
    turn: Turn
    granted: threading.Lock = field(default_factory=threading.Lock)


class _Turns:
    def __init__(self) -> None:
        # a signal's handler may call functions while this thread holds it
        self.mutex = threading.RLock()
        # by thread, from the outermost call in
        self.held: dict[int, list[Turn]] = {}
        self.waiting: list[_Waiting] = []

    def take(self, turn: Turn) -> int:
        """Begin a turn; answers in how many of the same claim this thread already is."""
        thread = get_ident()
        with self.mutex:
            own = self.held.get(thread)
            alone = not self.waiting and len(self.held) == (own is not None)
            if alone or not self._stopped(thread, turn, self.waiting):
                if own is None:
                    self.held[thread] = [turn]
                    return 0
                own.append(turn)
                return self._within(thread, turn)
            if own is not None and self._is_waited_for(thread, turn):
                raise RuntimeError(
                    "Two threads wait for shared variables that the other one uses: a function "
                    "calls another, or sets a value, while it runs. Let the outer function use "
                    "those variables, too."
                )
            waiting = _Waiting(thread, turn)
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
        return self._within(thread, turn)

    def _within(self, thread: int, turn: Turn) -> int:
        return sum(held[0] is turn[0] for held in self.held[thread]) - 1

    def give_back(self, turn: Turn) -> None:
        """End a turn, if it was taken at all."""
        try:
            self._end(turn)
        except BaseException:
            # Ctrl-C while it waited for the mutex
            self._end(turn)
            raise

    def _end(self, turn: Turn) -> None:
        thread = get_ident()
        with self.mutex:
            own = self.held.get(thread)
            # the last, but for one that was never taken
            if own and own[-1] is turn:
                own.pop()
                if not own:
                    self.held.pop(thread, None)
            if self.waiting:
                self._grant()

    def _grant(self) -> None:
        """Let those go on whom nothing stops any more."""
        for waiting in list(self.waiting):
            with suppress(ValueError):
                before = self.waiting[: self.waiting.index(waiting)]
                if not self._stopped(waiting.thread, waiting.turn, before):
                    self.waiting.remove(waiting)
                    self.held.setdefault(waiting.thread, []).append(waiting.turn)
                    waiting.granted.release()

    def _stopped(self, thread: int, turn: Turn, before: list[_Waiting]) -> bool:
        if any(self._stop(thread, turn)):
            return True
        # who holds something already must not wait for those that wait for it
        return thread not in self.held and any(w.turn[0].meets(turn[0]) for w in before)

    def _stop(self, thread: int, turn: Turn) -> Iterator[int]:
        """The threads that a turn has to wait for."""
        for other, turns in self.held.items():
            if other != thread and any(held[0].meets(turn[0]) for held in turns):
                yield other

    def _is_waited_for(self, thread: int, turn: Turn) -> bool:
        """Whether those that a turn has to wait for wait for its thread, one through the other."""
        turns = {waiting.thread: waiting.turn for waiting in self.waiting}
        reached: set[int] = set()
        ahead = list(self._stop(thread, turn))
        while ahead:
            other = ahead.pop()
            if other == thread:
                return True
            if other not in reached and other in turns:
                reached.add(other)
                ahead += self._stop(other, turns[other])
        return False


_turns = _Turns()
take, give_back = _turns.take, _turns.give_back


def _forget_other_threads() -> None:
    """After a fork this thread is the only one."""
    own = _turns.held.get(get_ident())
    _turns.mutex = threading.RLock()
    _turns.held = {} if own is None else {get_ident(): own}
    _turns.waiting = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def turn_of(claim: Claim) -> Iterator[None]:
    """Take a turn for as long as the context lasts."""
    turn = [claim]
    try:
        take(turn)
        yield
    finally:
        give_back(turn)


class InTurns:
    """A shared variable whose value is read and set between calls, and not while one runs."""

    container: Any

    def get_value(self, *args: Any, **kwargs: Any) -> Any:
        """Return the value."""
        with turn_of(reading(self.container.storage)):
            return super().get_value(*args, **kwargs)  # type: ignore[misc]

    def set_value(self, *args: Any, **kwargs: Any) -> None:
        """Replace the value."""
        with turn_of(writing(self.container.storage)):
            super().set_value(*args, **kwargs)  # type: ignore[misc]


def reading(cell: list[Any]) -> Claim:
    """The claim to read what lies in a storage cell."""
    return Claim(frozenset((id(cell),)), frozenset())


def writing(cell: list[Any]) -> Claim:
    """The claim to write what lies in a storage cell."""
    return Claim(frozenset(), frozenset((id(cell),)))
