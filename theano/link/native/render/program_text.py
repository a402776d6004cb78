"""The C text of a function: its segments, and the loops that they call."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.render.c_text import Definition, Row, comment, indented, preamble
from theano.link.native.render.counters import Counters
from theano.link.native.render.loop import emit_loop
from theano.link.native.render.loop_code import LoopCode, described, loop_code
from theano.link.native.render.places import import_renderer
from theano.link.native.render.registry import import_renderers_by
from theano.link.native.render.repeated_statements import Repeated
from theano.link.native.render.segment import emit_segment
from theano.link.native.schedule.places import import_schedule
from theano.link.native.schedule.registry import import_schedules_by
from theano.support.data_classes import dataclass

import_renderers_by(import_renderer)
import_schedules_by(import_schedule)

# A compiler that is started once more pays where this many lines are left for it.
LINES_OF_A_PART = 120
MOST_PARTS = 4
MOST_QUICK_PARTS = 2
# how many lines of a function that is not optimized take as long as one of others
LINES_NOT_OPTIMIZED = 7


@dataclass(frozen=True)
class ProgramText:
    """C that is one text, and may be compiled in parts that are linked.

    Attributes
    ----------
    packed
        The text without what any program begins with, compressed: it lives as long as its function,
        for the compiler that may follow and for reports, and is a third as long.
    loops
        Those of its loops that may be compiled by themselves.
    parts
        How many other parts there are: with TN_PARTS defined as at most that many, and TN_PART as
        a number below, the text is that one, without the loops.
    quick_parts
        How many there are where nothing is optimized.
    own_lines
        How many lines there are besides the loops and what any program begins with.
    beginning
        What any program begins with, in parts that programs share: they are most of a short text.
    """

    packed: bytes
    loops: tuple[LoopCode, ...] = ()
    parts: int = 1
    quick_parts: int = 1
    own_lines: int = 0
    beginning: tuple[str, ...] = ()

    @classmethod
    def of(cls, own_text: str, **fields: Any) -> ProgramText:
        """Return the program of a text."""
        return cls(zlib.compress(own_text.encode(), 1), **fields)

    @property
    def own_text(self) -> str:
        """The text without what any program begins with."""
        return zlib.decompress(self.packed).decode()

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join([*self.beginning, self.own_text])

    def marked(self, symbol: str) -> str:
        """Return the text, with a symbol by which its library is known."""
        return (
            f"{self.text}\n#if !defined TN_PART || TN_PART == 0\n"
            f"extern const char {symbol};\nconst char {symbol} = 0;\n#endif\n"
        )


@dataclass(frozen=True)
class Place:
    """In which part of a text a function is: when nothing is optimized, and when all is."""

    quick: int
    optimized: int


def program_text(segments: Sequence[Segment]) -> ProgramText:
    """One translation unit for all segments."""
    loops = [loop for segment in segments for loop in segment.loops]
    codes = {loop.step.name: loop_code(loop) for loop in loops}
    repeated = Repeated("statement", {name: code.name for name, code in codes.items()})
    functions: list[_Function] = []
    for segment in segments:
        functions += _functions_of_segment(segment, repeated)
    different = {code.name: code for code in codes.values()}
    lines: list[str] = []
    for name, code in different.items():
        same = [loop for loop in loops if codes[loop.step.name].name == name]
        lines += _in_own_part(described(same), code)
    # each after those that it calls, which are declared where another part has them
    functions = [*(_Function(each.lines, each) for each in repeated.definitions()), *functions]
    places = _places(functions)
    parts = 1 + max((place.optimized for place in places), default=0)
    quick_parts = 1 + max((place.quick for place in places), default=0)
    apart = max(parts, quick_parts) > 1
    for place, function in zip(places, functions, strict=True):
        if function.definition is not None and apart:
            lines.append(function.definition.declaration)
        lines += _in_part(place if apart else None, indented(function.lines))
    text = "\n".join(lines)
    return ProgramText.of(
        f"{text}\n",
        loops=tuple(different.values()),
        parts=parts,
        quick_parts=quick_parts,
        own_lines=sum(len(function.lines) for function in functions),
        beginning=tuple(preamble(_steps(segments), text)),
    )


@dataclass(frozen=True)
class _Function:
    """A C function of a program.

    Attributes
    ----------
    definition
        What declares it, if others call it.
    optimized
        Whether the compiler optimizes it where it optimizes anything.
    """

    lines: list[str]
    definition: Definition | None = None
    optimized: bool = True


def _functions_of_segment(segment: Segment, repeated: Repeated) -> list[_Function]:
    """Return a segment, after what computes for it."""
    text = emit_segment(segment, repeated)
    computing = text.computing
    own = _Function([comment(str(segment)), *text.lines, ""], None, text.optimized)
    if computing is None:
        return [own]
    about = comment(f"what {segment.name} computes")
    return [_Function([about, *computing.lines], computing, text.optimized), own]


def profiled_text(segments: Sequence[Segment], counters: Counters) -> ProgramText:
    """One translation unit for all segments, with counters: each loop has its own."""
    repeated, loops, functions = Repeated("statement", {}), [], []
    for segment in segments:
        for loop in segment.loops:
            loops.append([comment(loop.name), *emit_loop(loop, counters).lines(loop.step.name)])
        functions += [comment(str(segment)), *emit_segment(segment, repeated, counters).lines, ""]
    lines = [counters.code()]
    statements = [definition.lines for definition in repeated.definitions()]
    for function in [*statements, *loops, functions]:
        lines += _in_part(None, indented(function))
    text = "\n".join(lines)
    return ProgramText.of(f"{text}\n", beginning=tuple(preamble(_steps(segments), text)))


def _steps(segments: Sequence[Segment]) -> list[Step]:
    return [step for s in segments for step in (s.step, *(loop.step for loop in s.loops))]


def _places(functions: Sequence[_Function]) -> list[Place]:
    """Return the place of each function, such that all parts take about as long to compile."""
    quick = [sum(not isinstance(line, Row) for line in function.lines) for function in functions]
    optimized = [
        lines if function.optimized else lines // LINES_NOT_OPTIMIZED
        for lines, function in zip(quick, functions, strict=True)
    ]
    parts = zip(_in_parts(quick, MOST_QUICK_PARTS), _in_parts(optimized, MOST_PARTS), strict=True)
    return [Place(*part) for part in parts]


def _in_parts(sizes: Sequence[int], most: int) -> list[int]:
    """Return the part of each function of so many lines."""
    filled = [0] * max(1, min(most, sum(sizes) // LINES_OF_A_PART))
    places = [0] * len(sizes)
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k]):
        part = filled.index(min(filled))
        filled[part] += sizes[k]
        places[k] = part
    return places


def _in_part(place: Place | None, text: Sequence[str]) -> list[str]:
    """Lines that other parts leave out."""
    if place is None:
        return [*text, ""]
    return [f"#if TN_IN_PART({place.quick}, {place.optimized})", *text, "#endif", ""]


def _in_own_part(about: str, code: LoopCode) -> list[str]:
    """Return the lines of a loop, which is compiled by itself or with all the rest."""
    return [about, "#ifdef TN_PART", code.declaration, "#else", *code.lines, "#endif", ""]
