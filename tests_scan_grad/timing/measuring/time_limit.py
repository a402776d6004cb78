"""Give up what takes too long."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeExceeded(BaseException):
    """A block of code took too long. Not an Exception, so that no library takes it for its own."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeExceeded in a block of code that runs longer than so many seconds.

    A block that is inside another language then only ends when it is back in Python. Where the
    system has no such clock, and outside the main thread, there is no limit.
    """
    if not hasattr(signal, "setitimer") or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def give_up(*_: object) -> None:
        raise TimeExceeded

    start = time.monotonic()
    handler = signal.signal(signal.SIGALRM, give_up)
    # Someone else's clock, such as a test's, goes on afterwards.
    before, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if before:
            left = before - (time.monotonic() - start)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
