"""Compile a function's C text to a library: once for each text.

The cache is a folder of libraries named by a hash of the text, the compiler and its flags. A
library appears there whole, by a rename, so that processes that compile the same text at the
same time do not disturb one another; it ends with a hash of itself, so that a damaged one is
seen and built again.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path

from theano.link.native import compiler
from theano.link.native.objects import object_files
from theano.link.native.program_text import ProgramText
from theano.link.native.runtime.build import is_whole, seal
from theano.link.native.runtime.load import cache_folder

LINES_OF_A_LONG_PROGRAM = 2500


def flags_for(code: ProgramText) -> tuple[str, ...]:
    """The compiler's flags for all of a program but its loops."""
    return compiler.flags_for(code.text.count("\n"), LINES_OF_A_LONG_PROGRAM)


def library(code: ProgramText) -> ctypes.CDLL:
    """The library of a program, compiled unless the cache holds it.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    name = f"program-{compiler.name_of(code.text, flags_for(code))}.so"
    folder = cache_folder()
    if is_whole(folder / name):
        return ctypes.CDLL(str(folder / name))
    try:
        return ctypes.CDLL(str(_compile(code, folder, name)))
    except OSError:
        # A folder that is read-only or full: this process builds for itself.
        with tempfile.TemporaryDirectory(prefix="theano-native-") as own:
            return ctypes.CDLL(str(_compile(code, Path(own), name)))


def _compile(code: ProgramText, folder: Path, name: str) -> Path:
    flags = flags_for(code)
    if compiler.cores() == 1 or (code.parts == 1 and not code.loops):
        runs = [compiler.run(folder, name, flags, code.text)]
    else:
        runs = _linked(code, folder, name, flags)
    try:
        runs[-1].finish()
        seal(runs[-1].made)
        os.replace(runs[-1].made, folder / name)
    finally:
        for run in runs:
            run.stop()
    return folder / name


def _linked(
    code: ProgramText, folder: Path, name: str, flags: tuple[str, ...]
) -> list[compiler.Run]:
    """Compile the parts of a program side by side, and link them in a last run."""
    runs = []
    try:
        for part in range(code.parts):
            part_flags = [*flags, "-c", f"-DTN_PART={part}"]
            runs.append(compiler.run(folder, f"{part}.o", part_flags, code.text))
        loops = object_files(code.loops, folder)
        for run in runs:
            run.finish()
        objects = [*(run.made for run in runs), *loops]
        return [*runs, compiler.run(folder, name, [*flags, *map(str, objects)])]
    except BaseException:
        for run in runs:
            run.stop()
        raise
