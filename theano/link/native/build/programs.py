"""A program that can be called soon, and runs fast later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from theano.configparser import config
from theano.link.native.build.in_process import chosen_compiler, has_llvm, library_in_process
from theano.link.native.build.libraries import Build, build_of, library
from theano.link.native.build.loaded import Library
from theano.link.native.build.optimized_later import OptimizedLater
from theano.link.native.build.tiers import OPTIMIZED, QUICK, Tier
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.program_text import ProgramText
from theano.support.data_classes import dataclass

# The compiler takes as long for fewer lines, however much it optimizes.
LINES_WORTH_A_QUICK_BUILD = 150
# LLVM, in this process, takes 10 to 70 ms for these where the C compiler takes 60 to 130; it takes
# longer for loops, which the C compiler compiles ahead, too.
LINES_FOR_LLVM = 600
# What is compiled quickly runs up to twice as long, what a loop computes once a call longer: the
# C compiler takes as much processor time as this saves.
SECONDS_WORTH_COMPILING = 0.05


@dataclass(frozen=True)
class LoadedProgram:
    """A program's library.

    Attributes
    ----------
    later
        What will take its place; none if it is optimized.
    by_llvm
        Whether LLVM compiled it in this process; what is to take its place, the C compiler does.
    """

    library: Library
    later: OptimizedLater | None = None
    by_llvm: bool = False


def first_tier() -> Tier:
    """Return the tier of code that runs first."""
    return QUICK if config.native.quick else OPTIMIZED


def loaded_program(
    code: ProgramText, meanwhile: Callable[[], None], profiled: bool
) -> LoadedProgram:
    """Return a program that can be called.

    Parameters
    ----------
    meanwhile
        What there is to do while the compiler runs; it is done once, in any case.
    profiled
        Whether its times will be reported, so that it has to be optimized from the first call on.

    Raises
    ------
    CannotLower
        When there is no compiler, or it fails.
    """
    if chosen_compiler() == "llvm":
        return LoadedProgram(library_in_process(code, meanwhile), by_llvm=True)
    best = build_of(code, OPTIMIZED)
    by_llvm = _is_soon_done_by_llvm(code)
    long = bool(code.loops) or code.own_lines > LINES_WORTH_A_QUICK_BUILD
    if profiled or first_tier() is OPTIMIZED or not (long or by_llvm):
        return LoadedProgram(library(best, meanwhile))
    kept = best.kept()
    if kept is not None:
        meanwhile()
        return LoadedProgram(kept)
    if by_llvm:
        with suppress(CannotLower):
            found = library_in_process(code, meanwhile, quick=True)
            return LoadedProgram(found, _later(best), by_llvm=True)
    quick = build_of(code, QUICK)
    return LoadedProgram(library(quick, meanwhile), _later(best))


def _later(build: Build) -> OptimizedLater:
    return OptimizedLater(build, SECONDS_WORTH_COMPILING)


def _is_soon_done_by_llvm(code: ProgramText) -> bool:
    """Return whether LLVM takes less time for a program than the C compiler that is there."""
    short = 0 < code.own_lines <= LINES_FOR_LLVM and not code.loops
    return short and config.native.compiler == "auto" and has_llvm()
