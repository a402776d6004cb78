"""The optimized library of a program, compiled behind all else while a quick one is in use."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack

from theano.link.native.build.libraries import Build, compiling, library
from theano.link.native.ir.ir import CannotLower
from theano.link.native.runtime.load import cache_folder
from theano.rewriting.disk.building_folders import building_folder
from theano.rewriting.disk.own_folders import make_own_folder

SECONDS_BETWEEN_POLLS = 0.005

_log = logging.getLogger(__name__)
_all: weakref.WeakSet[OptimizedLater] = weakref.WeakSet()


class OptimizedLater:
    """The better library of a program, which whoever calls the program looks for between calls.

    Parameters
    ----------
    build
        The program as it is to be compiled.
    worth
        After how many seconds of calls that pays.

    Attributes
    ----------
    seconds
        How long calls have taken, as far as whoever calls the program adds it.
    """

    def __init__(self, build: Build, worth: float):
        self._build, self._worth, self.seconds = build, worth, 0.0
        self._library: ctypes.CDLL | None = None
        self._steps: Iterator[ctypes.CDLL | None] | None = None
        self._next_poll, self._given_up = 0.0, False
        # held by the one that polls: functions that share a library poll from several threads, and
        # a signal's handler in the midst of a poll
        self._polling = threading.Lock()
        _all.add(self)

    def poll(self) -> ctypes.CDLL | None:
        """Start the compiler if that pays, or see whether it is done; the library, once there is one."""
        if self.seconds < self._worth:
            return None
        now = time.monotonic()
        to_do = self._library is None and not self._given_up and now >= self._next_poll
        if to_do and self._polling.acquire(blocking=False):
            try:
                self._next_poll = now + SECONDS_BETWEEN_POLLS
                self._poll()
            finally:
                self._polling.release()
        return self._library

    def _poll(self) -> None:
        self._steps = self._steps or _compiled(self._build)
        try:
            self._library = next(self._steps)
        except (CannotLower, OSError) as why:
            self._give_up(why)
        except BaseException:
            # a signal, say: the next poll begins again
            self._steps = None
            raise

    def wait(self) -> ctypes.CDLL | None:
        """Return the library, compiled first; none where that fails."""
        # whom a handler interrupts in the midst of a poll cannot be waited for
        begun = self._steps is not None and not self._polling.locked()
        if not begun and self._library is None and not self._given_up:
            try:
                self._library = library(self._build)
            except CannotLower as why:
                self._give_up(why)
        while self._library is None and not self._given_up:
            time.sleep(SECONDS_BETWEEN_POLLS)
            self.poll()
        return self._library

    def stop(self) -> None:
        """End the compiler; the next poll starts it again."""
        if self._polling.acquire(blocking=False):
            try:
                if self._steps is not None:
                    self._steps.close()  # type: ignore[attr-defined]
                    self._steps = None
            finally:
                self._polling.release()

    def begin_in_child(self) -> None:
        """After a fork: nobody polls, and the compiler that runs is the parent's."""
        if self._polling.locked():
            # these steps stay where the parent's other thread left them, and never go on
            self._steps, self._polling, self._next_poll = None, threading.Lock(), 0.0
        self.stop()

    def _give_up(self, why: Exception) -> None:
        self._given_up, self._steps = True, None
        _log.warning("a function keeps running code that is not optimized: %s", why)


def _compiled(build: Build) -> Iterator[ctypes.CDLL | None]:
    """Yield the steps of `compiling`, or the library at once, where the cache holds it."""
    loaded = build.kept()
    if loaded is not None:
        yield loaded
        return
    process = os.getpid()
    with ExitStack() as stack:
        folder = cache_folder()
        if not make_own_folder(folder):
            folder = stack.enter_context(building_folder())
        try:
            yield from compiling(build, folder, behind=True)
        finally:
            if os.getpid() != process:
                # a child process has no part in its parent's folder
                stack.pop_all()


@atexit.register
def _stop_all() -> None:
    for later in list(_all):
        later.stop()


def _forget_parents_runs() -> None:
    for later in list(_all):
        later.begin_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents_runs)
