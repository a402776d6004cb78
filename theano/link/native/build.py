"""Compile a function's C text to a library: once for each text.

The cache is a folder of libraries named by a hash of the text, the compiler and its flags. A
library appears there whole, by a rename, so that processes that compile the same text at the
same time do not disturb one another; it ends with a hash of itself, so that a damaged one is
seen and built again.
"""

from __future__ import annotations

import _ctypes
import ctypes
import functools
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

from theano.link.native import compiler
from theano.link.native.objects import object_files
from theano.link.native.program_text import ProgramText
from theano.link.native.runtime.build import is_whole
from theano.link.native.runtime.load import cache_folder

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
    name = f"program-{compiler.name_of(code.text, flags_for(code))}.so"
    once = functools.cache(meanwhile)
    if not is_whole(folder / name):
        try:
            _compile(code, folder, name, once)
        except OSError:
            # A folder that is read-only or full: this process builds for itself.
            with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
                _compile(code, Path(own), name, once)
                return _loaded(Path(own) / name)
    once()
    return _loaded(folder / name)


def _loaded(path: Path) -> ctypes.CDLL:
    """A library that leaves the process with the last function of it."""
    found = ctypes.CDLL(str(path))
    weakref.finalize(found, _ctypes.dlclose, found._handle).atexit = False
    return found


def _compile(code: ProgramText, folder: Path, name: str, meanwhile: Callable[[], None]) -> None:
    """Compile the parts of a program side by side, or all of it where that takes as long."""
    flags, runs = flags_for(code), []
    try:
        if compiler.cores() == 1 or (code.parts == 1 and not code.loops):
            runs.append(compiler.run(folder, name, flags, code.text))
            meanwhile()
        else:
            for part in range(code.parts):
                part_flags = [*flags, "-c", f"-DTN_PART={part}"]
                runs.append(compiler.run(folder, f"{part}.o", part_flags, code.text))
            meanwhile()
            loops = object_files(code.loops, folder)
            for run in runs:
                run.finish()
            objects = [str(made) for made in (*(run.made for run in runs), *loops)]
            runs.append(compiler.run(folder, name, [*flags, *objects]))
        runs[-1].keep(folder / name)
    finally:
        for run in runs:
            run.stop()
