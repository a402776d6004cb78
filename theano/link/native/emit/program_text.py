"""The C text of a function: its segments, and the loops that they call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theano.link.native.emit.c_text import c_text, comment, indented
from theano.link.native.emit.counters import Counters
from theano.link.native.emit.loop import emit_loop
from theano.link.native.emit.loop_code import LoopCode, described, loop_code
from theano.link.native.emit.repeated_statements import Repeated
from theano.link.native.emit.segment import emit_segment
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step

# A compiler that is started once more pays where this many lines are left for it.
LINES_OF_A_PART = 120
MOST_PARTS = 4
MOST_QUICK_PARTS = 2
# how many lines of segments, which are long and not optimized, take as long as one of others
SEGMENT_LINES = 7


@dataclass(frozen=True)
class ProgramText:
    """C that is one text, and may be compiled in parts that are linked.

    Attributes
    ----------
    loops
        Those of its loops that may be compiled by themselves.
    parts
        How many other parts there are: with TN_PARTS defined as at most that many, and TN_PART as
        a number below, the text is that one, without the loops.
    quick_parts
        How many there are where nothing is optimized.
    own_lines
        How many lines there are beside the loops and what any program begins with.
    """

    text: str
    loops: tuple[LoopCode, ...] = ()
    parts: int = 1
    quick_parts: int = 1
    own_lines: int = 0


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
    functions: list[str] = []
    for segment in segments:
        functions += [comment(str(segment)), *emit_segment(segment, repeated), ""]
    different = {code.name: code for code in codes.values()}
    lines: list[str] = []
    for name, code in different.items():
        same = [loop for loop in loops if codes[loop.step.name].name == name]
        lines += _in_own_part(described(same), code)
    # each after those that it calls, which are declared where another part has them
    definitions = repeated.definitions()
    places = _places([len(definition.lines) for definition in definitions], len(functions))
    parts = 1 + max((place.optimized for place in places), default=0)
    quick_parts = 1 + max((place.quick for place in places), default=0)
    apart = max(parts, quick_parts) > 1
    for place, definition in zip(places, definitions, strict=True):
        lines += [definition.declaration] if apart else []
        lines += _in_part(place if apart else None, indented(definition.lines))
    lines += _in_part(_OF_SEGMENTS if apart else None, indented(functions))
    return ProgramText(
        c_text(_steps(segments), lines),
        tuple(different.values()),
        parts,
        quick_parts,
        own_lines=len(functions) + sum(len(definition.lines) for definition in definitions),
    )


def profiled_text(segments: Sequence[Segment], counters: Counters) -> ProgramText:
    """One translation unit for all segments, with counters: each loop has its own."""
    repeated, loops, functions = Repeated("statement", {}), [], []
    for segment in segments:
        for loop in segment.loops:
            loops.append([comment(loop.name), *emit_loop(loop, counters).lines(loop.step.name)])
        functions += [comment(str(segment)), *emit_segment(segment, repeated, counters), ""]
    lines = [counters.code()]
    statements = [definition.lines for definition in repeated.definitions()]
    for function in [*statements, *loops, functions]:
        lines += _in_part(None, indented(function))
    return ProgramText(c_text(_steps(segments), lines))


def _steps(segments: Sequence[Segment]) -> list[Step]:
    return [step for s in segments for step in (s.step, *(loop.step for loop in s.loops))]


_OF_SEGMENTS = Place(0, 0)


def _places(sizes: Sequence[int], segments: int) -> list[Place]:
    """The place of each function of so many lines, beside segments of so many."""
    quick = _in_parts(sizes, segments, sum(sizes) + segments, MOST_QUICK_PARTS)
    optimized = _in_parts(sizes, segments // SEGMENT_LINES, sum(sizes), MOST_PARTS)
    return [Place(*parts) for parts in zip(quick, optimized, strict=True)]


def _in_parts(sizes: Sequence[int], first: int, lines: int, most: int) -> list[int]:
    """The part of each function, such that all take about as long; the first has ``first`` more."""
    count = max(1, min(most, lines // LINES_OF_A_PART))
    filled = [first, *[0] * (count - 1)]
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
    """The lines of a loop, which is compiled by itself or with all the rest."""
    return [about, "#ifdef TN_PART", code.declaration, "#else", *code.lines, "#endif", ""]
