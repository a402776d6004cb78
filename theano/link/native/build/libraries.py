"""Compile a function's C text to a library: once for each text.

The cache is a folder of libraries named by a hash of the text, the compiler and its flags. A
library appears there whole, by a rename, so that processes that compile the same text at the
same time do not disturb one another; it is sealed, and has a symbol that is named after the text.
"""

from __future__ import annotations

import _ctypes
import ctypes
import functools
import weakref
from collections.abc import Callable
from pathlib import Path

from theano.link.native.build import compiler
from theano.link.native.build.objects import object_files
from theano.link.native.emit.program_text import ProgramText
from theano.link.native.ir.ir import CannotLower
from theano.link.native.runtime.load import cache_folder, in_cache_or_elsewhere, open_library
from theano.schedule.disk.sealed_files import is_sealed, put_sealed

LINES_OF_A_LONG_PROGRAM = 2500


def flags_for(code: ProgramText) -> tuple[str, ...]:
    """The compiler's flags for all of a program but its loops."""
    return compiler.flags_for(code.text.count("\n"), LINES_OF_A_LONG_PROGRAM)


def library(code: ProgramText, meanwhile: Callable[[], None] = lambda: None) -> ctypes.CDLL:
    """The library of a program, compiled unless the cache holds it.

    Parameters
    ----------
    meanwhile
        What there is to do while the compiler runs; it is done once, in any case.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    folder = cache_folder()
    identity = compiler.name_of(code.text, flags_for(code))
    path = folder / f"program-{identity}.so"
    once = functools.cache(meanwhile)
    loaded = open_library(path, _mark(identity)) if is_sealed(path) else None
    if loaded is None:
        try:
            loaded = in_cache_or_elsewhere(
                folder, lambda place: _compile(code, place / path.name, identity, once)
            )
        except OSError as error:
            raise CannotLower(f"anything, because nothing can be compiled: {error}") from error
    once()
    # it leaves the process with the last function of it
    weakref.finalize(loaded, _ctypes.dlclose, loaded._handle).atexit = False
    return loaded


def _mark(identity: str) -> str:
    """A symbol that a program's library has, and no other."""
    return f"tn_program_{identity}"


def _compile(
    code: ProgramText, path: Path, identity: str, meanwhile: Callable[[], None]
) -> ctypes.CDLL:
    """Compile the parts of a program side by side, or all of it where that takes as long."""
    folder, flags, runs = path.parent, flags_for(code), []
    marked = (
        f"{code.text}\n#if !defined TN_PART || TN_PART == 0\n"
        f"extern const char {_mark(identity)};\nconst char {_mark(identity)} = 0;\n#endif\n"
    )
    try:
        if compiler.cores() == 1 or (code.parts == 1 and not code.loops):
            runs.append(compiler.run(folder, path.name, flags, marked))
            meanwhile()
            return _kept(runs[-1], folder, identity)
        for part in range(code.parts):
            part_flags = [*flags, "-c", f"-DTN_PART={part}"]
            runs.append(compiler.run(folder, f"{part}.o", part_flags, marked))
        meanwhile()
        for run in runs:
            run.finish()
        parts = [str(run.made) for run in runs]
        try:
            loops = map(str, object_files(code.loops, folder))
            runs.append(compiler.run(folder, path.name, [*flags, *parts, *loops]))
            return _kept(runs[-1], folder, identity)
        except CannotLower:
            # an object that was kept may be no object, or not the one that its name says
            loops = map(str, object_files(code.loops, folder, anew=True))
            runs.append(compiler.run(folder, path.name, [*flags, *parts, *loops]))
            return _kept(runs[-1], folder, identity)
    finally:
        for run in runs:
            run.stop()


def _kept(run: compiler.Run, folder: Path, identity: str) -> ctypes.CDLL:
    """Wait for a library, load it, and put it into the folder if that is possible."""
    run.finish()
    loaded = open_library(run.made, _mark(identity))
    if loaded is None:
        raise CannotLower("anything, because what the C compiler made cannot be loaded")
    put_sealed(run.made, folder)
    return loaded
