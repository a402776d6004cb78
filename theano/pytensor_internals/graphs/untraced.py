"""Variables without the trace of a call: what this package makes for itself is no line of a user's.

PyTensor has one flag for all threads, ``traceback__limit``, whose value each of two threads that set
and restore it by themselves might take from the other.
"""

from __future__ import annotations

import os
import threading

from pytensor.configdefaults import config


class _Untraced:
    """A context in which PyTensor records no traces, which threads may enter at once, and again inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit = 0
        self._of_thread = threading.local()

    def __enter__(self) -> None:
        depth = self._depth
        self._of_thread.depth = depth + 1
        if depth:
            return
        with self._lock:
            if not self._inside:
                self._limit = config.traceback__limit
                config.traceback__limit = 0
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        depth = self._of_thread.depth = self._depth - 1
        if depth:
            return
        with self._lock:
            self._inside -= 1
            if not self._inside:
                config.traceback__limit = self._limit

    @property
    def limit(self) -> int:
        """The most lines that PyTensor records for what this thread makes; negative: all of them."""
        if self._depth:
            return 0
        with self._lock:
            limit: int = self._limit if self._inside else config.traceback__limit
        return limit

    @property
    def _depth(self) -> int:
        return getattr(self._of_thread, "depth", 0)

    def _forget_other_threads(self) -> None:
        """After a fork the child has this thread only: nobody else is inside."""
        self._lock = threading.Lock()
        if self._inside and not self._depth:
            config.traceback__limit = self._limit
        self._inside = int(self._depth > 0)


untraced = _Untraced()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=untraced._forget_other_threads)
