"""Levels of optimization: quickly compiled to begin with, better once a program is used."""

from __future__ import annotations

from theano.link.native.build.compiler_flags import FLAGS
from theano.link.native.render.loop_code import LoopCode
from theano.link.native.render.program_text import ProgramText
from theano.support.data_classes import dataclass

# A loop of a few numbers runs up to a tenth faster with -O2, larger ones up to a twentieth; it takes
# the compiler a third longer, which the user of a long program waits for.
OPTIMIZED_WELL = ("-O2",)
OPTIMIZED_FAST = ("-O1", "-finline-small-functions")
# What is written in vectors runs as fast, at two thirds of the compiler's time with -O1; what the
# compiler vectorizes and inlines runs some times as long.
OPTIMIZED_LITTLE = ("-Og", "-DTN_QUICK")
NOT_OPTIMIZED = ("-O0",)

LINES_OF_A_LONG_PROGRAM = 2500
LINES_OF_A_LONG_LOOP = 500


@dataclass(frozen=True)
class Tier:
    """The options of the compiler. Results have the same bits in each tier.

    Attributes
    ----------
    program, long_program
        Flags for all of a program but its loops.
    loop, long_loop
        Flags for a loop.
    loops_as_the_rest
        Whether loops are optimized as the rest is, so that both may be one text.
    """

    program: tuple[str, ...]
    long_program: tuple[str, ...]
    loop: tuple[str, ...]
    long_loop: tuple[str, ...]
    loops_as_the_rest: bool

    def parts_of(self, code: ProgramText) -> int:
        """In how many parts a program is compiled, without its loops."""
        return code.quick_parts if self.program == NOT_OPTIMIZED else code.parts

    def flags_of_program(self, code: ProgramText) -> tuple[str, ...]:
        """Return the compiler's flags for all of a program but its loops."""
        long = code.text.count("\n") > LINES_OF_A_LONG_PROGRAM
        return (*FLAGS, *(self.long_program if long else self.program))

    def flags_of_loop(self, code: LoopCode) -> tuple[str, ...]:
        """Return the compiler's flags for a loop."""
        long = len(code.lines) > LINES_OF_A_LONG_LOOP
        return (*FLAGS, *(self.long_loop if long else self.loop))


# what is computed once a call takes some ten times as long, most loops no longer
QUICK = Tier(
    NOT_OPTIMIZED,
    NOT_OPTIMIZED,
    OPTIMIZED_LITTLE,
    OPTIMIZED_LITTLE,
    loops_as_the_rest=False,
)
OPTIMIZED = Tier(
    OPTIMIZED_WELL,
    OPTIMIZED_FAST,
    OPTIMIZED_WELL,
    OPTIMIZED_FAST,
    loops_as_the_rest=True,
)
