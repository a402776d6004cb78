"""Calls of a device that the main thread waits for in such a way that signals reach it.

A program of XLA cannot be stopped, and while the main thread is inside of it, Python handles no
signal. What may take long is therefore called by a helper thread. Where a signal's handler raises,
the main thread goes on, and so does the program, in the background. What it will still change is
complete only when it has ended: who reads that waits for it with `wait_for_background`.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from theano.support.data_classes import dataclass

# A signal that comes while the main thread waits is seen at once on POSIX, after so long on Windows.
POLL_SECONDS = 0.1
# What is ready so soon is not worth another thread's being woken.
SPIN_SECONDS = 2e-4

CONTINUES = (
    "XLA cannot stop a program that runs: it goes on in the background, and this process waits for "
    "it before it next calls XLA, reads a shared variable that it uses, or exits. Shared variables "
    "that it updates in place get their new values when it ends; all others keep the old ones."
)


@dataclass(eq=False)
class Job:
    """A call in a helper thread, and what came of it."""

    call: Callable[[], Any]
    result: Any = None
    error: BaseException | None = None


class _Helper:
    """A thread that runs a job at a time, as long as someone hands it jobs."""

    def __init__(self) -> None:
        self._given, self._done = threading.Lock(), threading.Lock()
        self._given.acquire()
        self._done.acquire()
        self._job: Job | None = None
        threading.Thread(target=self._work, name="theano-xla", daemon=True).start()

    def begin(self, job: Job) -> None:
        self._job = job
        self._given.release()

    def has_ended(self) -> bool:
        """Wait a moment for the job; return True once, to one thread, after its end."""
        return self._done.acquire(timeout=POLL_SECONDS)

    def _work(self) -> None:
        while True:
            self._given.acquire()
            job, self._job = self._job, None
            assert job is not None
            try:
                job.result = job.call()
            except BaseException as error:
                job.error = error
            del job
            self._done.release()


# Helpers without a job; a signal's handler that calls functions takes a second one.
_idle: list[_Helper] = []
# Those whose job a signal has left running
_running: list[_Helper] = []
# Whether this process was forked from one in which XLA's threads had been started
_without_threads = False
# Is empty where a program can be called at once, without a look at the two above
obstacles: list[Any] = []


def interruptibly(call: Callable[[], Any]) -> Any:
    """Return what a call returns; in the main thread signals are handled while it runs.

    Where a handler raises, as that of Ctrl-C does, the call goes on in the background.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return call()
    job, helper = Job(call), _idle.pop() if _idle else _Helper()
    helper.begin(job)
    try:
        while not helper.has_ended():
            pass
    except BaseException as error:
        _leave_running(helper)
        _add_note(error)
        raise
    _idle.append(helper)
    if job.error is not None:
        raise job.error
    return job.result


def wait_for_value(value: Any) -> None:
    """Wait until an array of a device is computed; raise what its computation has raised."""
    # what takes long on the CPU has been waited for when it ran
    if value.platform() != "cpu" and not value.is_ready():
        end = time.perf_counter() + SPIN_SECONDS
        while not value.is_ready() and time.perf_counter() < end:
            time.sleep(0)
        if not value.is_ready():
            interruptibly(value.block_until_ready)
    value.block_until_ready()


def fetched(value: object) -> np.ndarray:
    """Return the elements of an array of a device, as memory that must not be written to."""
    # NumPy ends the process where it reads an array whose computation has failed
    wait_for_value(value)
    return np.asarray(value)


def wait_for_background() -> None:
    """Wait until the programs that signals have left running have ended."""
    while _running:
        helper = _running[0]
        try:
            ended = helper.has_ended()
        except BaseException as error:
            _add_note(error)
            raise
        if ended:
            _running.remove(helper)
            obstacles.remove(helper)
            _idle.append(helper)


def is_without_threads() -> bool:
    """Return whether this process was forked from one in which XLA had started its threads."""
    return _without_threads


def refuse_without_threads() -> None:
    """Raise an error in a child process that cannot compute with XLA: it would wait for ever.

    Raises
    ------
    RuntimeError
    """
    if _without_threads:
        raise RuntimeError(
            "XLA does not run in this process: it was forked from one that had already used XLA "
            "(JAX), whose threads a fork does not copy, so that the call would never return. Start "
            "processes by 'spawn' or 'forkserver' (multiprocessing.get_context('spawn'); for "
            "concurrent.futures, mp_context), fork before XLA is first used, or compile the "
            "function with mode='NATIVE', whose functions work in forks"
        )


def _leave_running(helper: _Helper) -> None:
    if not _running:
        # before those of JAX, which was imported earlier
        atexit.unregister(_wait_at_exit)
        atexit.register(_wait_at_exit)
    obstacles.append(helper)
    _running.append(helper)


def _add_note(error: BaseException) -> None:
    if CONTINUES not in getattr(error, "__notes__", ()):
        error.add_note(CONTINUES)


def _wait_at_exit() -> None:
    """Let programs end before the interpreter does; a further Ctrl-C ends the process at once."""
    try:
        wait_for_background()
    except KeyboardInterrupt:
        print("Interrupted again: the process ends while XLA computes.", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


def _after_fork() -> None:
    """Forget threads, which a child does not have."""
    global _without_threads
    _idle.clear()
    _running.clear()
    backends = getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None)
    _without_threads = _without_threads or bool(backends)
    obstacles[:] = [_without_threads] if _without_threads else []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
