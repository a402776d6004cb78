"""Loops' C functions as object files, each compiled once; the compiler may run ahead.

The cache is the folder of the libraries (`build.py`), in which an object appears whole, by a
rename, and ends with a hash of itself.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from theano.link.native import compiler
from theano.link.native.compiler import Run
from theano.link.native.ir import CannotLower
from theano.link.native.loop_code import LoopCode, without_comments
from theano.link.native.runtime.build import is_whole
from theano.link.native.runtime.load import cache_folder

LINES_OF_A_LONG_LOOP = 500
# how many run ahead at once, for each core
AHEAD_FOR_A_CORE = 3

# by the path of the object
_running: dict[Path, Run] = {}
_starting = threading.Lock()


def flags_of(code: LoopCode) -> tuple[str, ...]:
    """The compiler's flags for a loop."""
    return compiler.flags_for(len(code.lines), LINES_OF_A_LONG_LOOP)


def compile_ahead(loops: Sequence[LoopCode]) -> None:
    """Start the compiler for loops, behind all else that runs.

    Where it cannot be started, or fails, `object_files` says so.
    """
    folder = cache_folder()
    with _starting, contextlib.suppress(OSError, CannotLower):
        _keep_what_is_done()
        for code in loops:
            path = _path(code, folder)
            room = len(_running) < AHEAD_FOR_A_CORE * compiler.cores()
            if room and path not in _running and not path.exists():
                _running[path] = _start(code, path, behind=True)


def object_files(loops: Sequence[LoopCode], folder: Path) -> list[Path]:
    """The object files of a function's loops, in a folder of objects, compiled if they are not there.

    Raises
    ------
    CannotLower
        With what the compiler complains of.
    OSError
        When the folder cannot be written.
    """
    paths = [_path(code, folder) for code in loops]
    # whoever takes a run out of the table ends it
    ahead = {path: run for path in paths if (run := _running.pop(path, None)) is not None}
    runs = {
        path: _start(code, path)
        for path, code in zip(paths, loops, strict=True)
        if path not in ahead and not is_whole(path)
    }
    try:
        for path, run in ahead.items():
            # what went wrong is tried again, where it says why
            with contextlib.suppress(OSError, CannotLower):
                run.keep(path)
            if not is_whole(path):
                runs[path] = _start(loops[paths.index(path)], path)
        for path, run in runs.items():
            run.keep(path)
    finally:
        for run in [*ahead.values(), *runs.values()]:
            run.stop()
    return paths


def _path(code: LoopCode, folder: Path) -> Path:
    identity = compiler.name_of(without_comments(code.text), flags_of(code))
    return folder / f"{code.name}-{identity}.o"


def _start(code: LoopCode, path: Path, behind: bool = False) -> Run:
    return compiler.run(path.parent, path.name, [*flags_of(code), "-c"], code.text, behind)


def _keep_what_is_done() -> None:
    for path, run in list(_running.items()):
        if run.process.poll() is not None and _running.pop(path, None) is run:
            with contextlib.suppress(OSError, CannotLower):
                run.keep(path)
            run.stop()


@atexit.register
def _stop_all() -> None:
    for run in _running.values():
        run.stop()


# a child process has no part in what its parent runs
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)
