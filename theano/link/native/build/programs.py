"""A program that can be called soon, and runs fast later."""

from __future__ import annotations

from collections.abc import Callable

from theano.configparser import config
from theano.link.native.build.in_process import chosen_compiler, library_in_process
from theano.link.native.build.libraries import build_of, library
from theano.link.native.build.loaded import Library
from theano.link.native.build.optimized_later import OptimizedLater
from theano.link.native.build.tiers import OPTIMIZED, QUICK, Tier
from theano.link.native.ir.ir import CannotLower
from theano.link.native.render.program_text import ProgramText
from theano.link.native.runtime.build import find_compiler
from theano.support.data_classes import dataclass

# The compiler takes as long for fewer lines, however much it optimizes.
LINES_WORTH_A_QUICK_BUILD = 150


@dataclass(frozen=True)
class LoadedProgram:
    """A program's library.

    Attributes
    ----------
    later
        What will take its place; none if it is optimized.
    by_llvm
        Whether LLVM compiled it in this process.
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
        try:
            return LoadedProgram(library_in_process(code, meanwhile), by_llvm=True)
        except CannotLower:
            # who asked for LLVM sees why it cannot be
            if config.native.compiler == "llvm" or find_compiler() is None:
                raise
    best = build_of(code, OPTIMIZED)
    long = bool(code.loops) or code.own_lines > LINES_WORTH_A_QUICK_BUILD
    if profiled or first_tier() is OPTIMIZED or not long:
        return LoadedProgram(library(best, meanwhile))
    kept = best.kept()
    if kept is not None:
        meanwhile()
        return LoadedProgram(kept)
    quick = build_of(code, QUICK)
    return LoadedProgram(library(quick, meanwhile), OptimizedLater(best))
