"""Compile a function's C text to a library: once for each text and tier.

The cache is a folder of libraries named by a hash of the text, the compiler and its flags. A
library appears there whole, by a rename, so that processes that compile the same text at the
same time do not disturb one another; it is sealed, and has a symbol that is named after the text.
"""

from __future__ import annotations

import _ctypes
import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from theano.link.native.build import compiler
from theano.link.native.build.compiler import Run
from theano.link.native.build.objects import object_files, running_ahead, start_missing
from theano.link.native.build.tiers import QUICK, Tier
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.program_text import ProgramText
from theano.link.native.runtime.build import SUFFIX, Command
from theano.link.native.runtime.load import (
    cache_folder,
    in_cache_or_elsewhere,
    load_and_keep,
    open_library,
)
from theano.rewriting.disk.sealed_files import is_sealed
from theano.support.data_classes import dataclass

# how a library leaves the process
if sys.platform == "win32":
    _CLOSE = _ctypes.FreeLibrary
else:
    _CLOSE = _ctypes.dlclose


@dataclass(frozen=True)
class Build:
    """A program as a tier compiles it.

    Attributes
    ----------
    identity
        What distinguishes its library from others.
    """

    code: ProgramText
    tier: Tier
    identity: str

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"program-{self.identity}{SUFFIX}"

    @property
    def in_one(self) -> bool:
        """Return whether one run of the compiler makes the library, with the loops in it."""
        several = self.tier.parts_of(self.code) > 1 or bool(self.code.loops)
        return not several or (compiler.cores() == 1 and self.tier.loops_as_the_rest)

    def kept(self) -> ctypes.CDLL | None:
        """Its library, where the cache holds it."""
        path = cache_folder() / self.name
        return self._loaded(path) if is_sealed(path) else None

    def start_parts(self, folder: Path, behind: bool = False) -> list[Run]:
        """Start the compiler for the whole library, or for the parts that `start_link` joins."""
        flags, parts = self.tier.flags_of_program(self.code), self.tier.parts_of(self.code)
        if not behind:
            # one more has the compiler read the text again, while loops' compilers wait for a core
            parts = max(1, min(parts, compiler.cores() - running_ahead()))
        if self.in_one:
            return [compiler.run(folder, self.name, flags, self._marked, behind)]
        runs: list[Run] = []
        try:
            for part in range(parts):
                defined = [f"-DTN_PART={part}", f"-DTN_PARTS={parts}"]
                part_flags = [*flags, "-c", *defined]
                runs.append(compiler.run(folder, f"{part}.o", part_flags, self._marked, behind))
        except BaseException:
            for run in runs:
                run.stop()
            raise
        return runs

    def start_link(
        self, folder: Path, parts: Sequence[Run], loops: Sequence[Path], linker: str | None
    ) -> Run:
        """Start to make a library of parts and of the loops' object files.

        Parameters
        ----------
        linker
            What makes it; None for the compiler, which adds its own functions and libraries.
        """
        files = [*(run.made for run in parts), *loops]
        if linker is not None:
            return compiler.link(folder, self.name, files, linker)
        flags = [*self.tier.flags_of_program(self.code), *map(str, files)]
        return compiler.run(folder, self.name, flags)

    def keep(self, run: Run, folder: Path) -> ctypes.CDLL:
        """Wait for a library, load it, and put it into the folder if that is possible."""
        run.finish()
        loaded = load_and_keep(run.made, folder, self._loaded)
        if loaded is None:
            raise CannotLower("anything, because what the C compiler made cannot be loaded")
        return loaded

    def _loaded(self, path: Path) -> ctypes.CDLL | None:
        loaded = open_library(path, self._mark)
        if loaded is not None:
            # it leaves the process with the last function of it
            weakref.finalize(loaded, _CLOSE, loaded._handle).atexit = False
        return loaded

    @property
    def _mark(self) -> str:
        """A symbol that the program's library has, and no other."""
        return f"tn_program_{self.identity}"

    @property
    def _marked(self) -> str:
        return self.code.marked(self._mark)


def build_of(code: ProgramText, tier: Tier) -> Build:
    """Return a program as a tier compiles it; CannotLower where there is no compiler."""
    return Build(code, tier, compiler.name_of(code.text, tier.flags_of_program(code)))


def library(build: Build, meanwhile: Callable[[], None] = lambda: None) -> ctypes.CDLL:
    """Return the library of a program, compiled unless the cache holds it.

    Parameters
    ----------
    meanwhile
        What there is to do while the compiler runs; it is done once, in any case.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    once = functools.cache(meanwhile)
    loaded = build.kept()
    if loaded is None:
        try:
            loaded = in_cache_or_elsewhere(
                cache_folder(), lambda folder: _compile(build, folder, once)
            )
        except OSError as error:
            raise CannotLower(f"anything, because nothing can be compiled: {error}") from error
    once()
    return loaded


def _compile(build: Build, folder: Path, meanwhile: Callable[[], None]) -> ctypes.CDLL:
    with closing(compiling(build, folder)) as steps:
        next(steps)
        meanwhile()
        return next(loaded for loaded in steps if loaded is not None)


def compiling(
    build: Build, folder: Path, behind: bool = False
) -> Generator[ctypes.CDLL | None, None, None]:
    """Compile the parts of a program side by side, or all of it where that takes as long.

    It goes on when it is asked for the next step: none while the compiler runs, and in the end the
    library. Who needs no more of it closes it.

    Parameters
    ----------
    behind
        Whether all else that runs comes first, and each step returns at once.
    """
    process, parts = os.getpid(), build.start_parts(folder, behind)
    runs = list(parts)
    try:
        objects = {}
        if behind and not build.in_one:
            objects = start_missing(build.code.loops, folder, build.tier)
        runs += [run for run in objects.values() if run is not None]
        yield None
        yield from _while_any_runs(runs if behind else ())
        if build.in_one:
            yield build.keep(parts[0], folder)
            return
        for run in parts:
            run.finish()
        for made in objects.values():
            if made is not None:
                made.keep(folder)
        loaded = None
        failed = None
        for linker, again in _ways_to_link(build.tier):
            loops = object_files(build.code.loops, folder, build.tier, again)
            runs.append(build.start_link(folder, parts, loops, linker))
            yield from _while_any_runs(runs[-1:] if behind else ())
            try:
                loaded = build.keep(runs[-1], folder)
                break
            except CannotLower:
                failed = failed or linker
                if again:
                    raise
        if failed is not None:
            _cannot_link.add((failed, compiler.compiler()))
        yield loaded
    finally:
        # a child process has no part in what its parent runs
        if os.getpid() == process:
            for run in runs:
                run.stop()


# linkers, and compilers of whose objects they made nothing that could be loaded
_cannot_link: set[tuple[str, Command]] = set()


def _ways_to_link(tier: Tier) -> Iterator[tuple[str | None, bool]]:
    """Yield how to link, until it works: by which linker, and whether with loops compiled again."""
    # to have the compiler start the linker takes three times as long
    linker = compiler.linker() if tier is QUICK else None
    if linker is not None and (linker, compiler.compiler()) not in _cannot_link:
        yield linker, False
    yield None, False
    # an object that was kept may be no object, or not the one that its name says
    yield None, True


def _while_any_runs(runs: Sequence[Run]) -> Iterator[None]:
    while not all(run.is_done() for run in runs):
        yield None
