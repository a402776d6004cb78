"""Loops' C functions as object files, each compiled once; the compiler may run ahead.

The cache is the folder of the libraries (`build.py`), in which an object appears whole, by a
rename, and is sealed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from theano.link.native.build import compiler
from theano.link.native.build.compiler import Run
from theano.link.native.build.tiers import Tier
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.loop_code import LoopCode
from theano.link.native.runtime.load import cache_folder
from theano.rewriting.disk.own_folders import make_own_folder
from theano.rewriting.disk.sealed_files import is_sealed

# how many run ahead at once, for each core
AHEAD_FOR_A_CORE = 3
# After so long, what runs behind all else and had less than half a core is started again in front.
SECONDS_OF_PATIENCE = 0.5
SECONDS_BETWEEN_POLLS = 0.002

# by the path of the object
_running: dict[Path, Run] = {}
_starting = threading.RLock()


def compile_ahead(loops: Sequence[LoopCode], tier: Tier) -> None:
    """Start the compiler for loops, behind all else that runs.

    Where it cannot be started, or fails, `object_files` says so.
    """
    folder = cache_folder()
    with _starting, contextlib.suppress(OSError, CannotLower):
        if not make_own_folder(folder):
            return
        _keep_what_is_done()
        for code in loops:
            path = _path(code, folder, tier)
            room = len(_running) < AHEAD_FOR_A_CORE * compiler.cores()
            if room and path not in _running and not path.exists():
                _running[path] = _start(code, path, tier, behind=True)


def running_ahead() -> int:
    """Return how many runs ahead have not ended."""
    return sum(not run.is_done() for run in list(_running.values()))


def object_files(
    loops: Sequence[LoopCode], folder: Path, tier: Tier, again: bool = False
) -> list[Path]:
    """Return the object files of a function's loops, in a folder of objects, compiled if they are not there.

    Parameters
    ----------
    again
        Whether to compile them even so.

    Raises
    ------
    CannotLower
        With what the compiler complains about.
    OSError
        When the folder cannot be written.
    """
    paths = [_path(code, folder, tier) for code in loops]
    codes = dict(zip(paths, loops, strict=True))
    # whoever takes a run out of the table ends it
    ahead = {path: run for path in paths if (run := _running.pop(path, None)) is not None}
    runs = [*ahead.values(), *_taken_in_other_folders(paths)]

    def start(path: Path) -> Run:
        runs.append(_start(codes[path], path, tier))
        return runs[-1]

    try:
        started = {
            path: start(path)
            for path in codes
            if path not in ahead and (again or not is_sealed(path))
        }
        _wait(ahead.values())
        # the machine is busy with other work: what runs behind it hardly runs
        rivals = {
            path: [run] if run.is_done() else [run, start(path)] for path, run in ahead.items()
        }
        for path, both in rivals.items():
            _keep_first(both, folder)
            if not is_sealed(path):
                # what went wrong is tried again, where it says why
                started[path] = start(path)
        for run in started.values():
            run.keep(folder)
    finally:
        for run in runs:
            run.stop()
    return paths


def start_missing(loops: Sequence[LoopCode], folder: Path, tier: Tier) -> dict[Path, Run | None]:
    """Return the object files of loops, each with the run behind all else that makes it, if it is not there."""
    found: dict[Path, Run | None] = {}
    for code in loops:
        path = _path(code, folder, tier)
        if path not in found:
            found[path] = None if is_sealed(path) else _start(code, path, tier, behind=True)
    return found


def _taken_in_other_folders(paths: Sequence[Path]) -> list[Run]:
    """Return runs ahead of the same loops, in a folder that turned out to be of no use."""
    names = {path.name for path in paths}
    elsewhere = [path for path in _running if path.name in names and path not in paths]
    return [run for path in elsewhere if (run := _running.pop(path, None)) is not None]


def _wait(runs: Iterable[Run]) -> None:
    """Wait for the end of runs behind all else, as long as these get half a core together."""
    left = [run for run in runs if not run.is_done()]
    while left:
        before, end = _seconds_used(left), time.monotonic() + SECONDS_OF_PATIENCE
        while time.monotonic() < end and not all(run.is_done() for run in left):
            time.sleep(SECONDS_BETWEEN_POLLS)
        if any(run.is_done() for run in left):
            left = [run for run in left if not run.is_done()]
        elif _seconds_used(left) - before < SECONDS_OF_PATIENCE / 2:
            return


def _seconds_used(runs: Iterable[Run]) -> float:
    """Return how long runs have had a core, as far as the system reports it."""
    return sum(run.seconds_used() or 0.0 for run in runs)


def _keep_first(runs: Iterable[Run], folder: Path) -> None:
    """Keep what the first of some runs of the same makes, if one of them makes it."""
    left = list(runs)
    while left:
        done = next((run for run in left if run.is_done()), None)
        if done is None:
            time.sleep(SECONDS_BETWEEN_POLLS)
            continue
        left.remove(done)
        with contextlib.suppress(OSError, CannotLower):
            done.keep(folder)
            return


def _path(code: LoopCode, folder: Path, tier: Tier) -> Path:
    identity = compiler.name_of(code.does, tier.flags_of_loop(code))
    return folder / f"{code.name}-{identity}.o"


def _start(code: LoopCode, path: Path, tier: Tier, behind: bool = False) -> Run:
    flags = [*tier.flags_of_loop(code), "-c"]
    return compiler.run(path.parent, path.name, flags, code.text, behind)


def _keep_what_is_done() -> None:
    for path, run in list(_running.items()):
        if run.is_done() and _running.pop(path, None) is run:
            with contextlib.suppress(OSError, CannotLower):
                run.keep(path.parent)
            run.stop()


@atexit.register
def _stop_all() -> None:
    for run in _running.values():
        run.stop()


def _forget_parents_runs() -> None:
    """Forget, in a child process, what its parent runs, which has no threads there."""
    global _starting
    _running.clear()
    _starting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents_runs)
