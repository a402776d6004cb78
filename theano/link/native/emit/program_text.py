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
    own_lines
        How many lines there are beside the loops and what any program begins with.
    """

    text: str
    loops: tuple[LoopCode, ...] = ()
    parts: int = 1
    own_lines: int = 0


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
    places = _in_parts([len(definition.lines) for definition in definitions], len(functions))
    apart = any(places)
    for place, definition in zip(places, definitions, strict=True):
        lines += [definition.declaration] if apart else []
        lines += _in_part(place if apart else None, indented(definition.lines))
    lines += _in_part(0 if apart else None, indented(functions))
    text = c_text(_steps(segments), lines)
    own_lines = len(functions) + sum(len(definition.lines) for definition in definitions)
    return ProgramText(text, tuple(different.values()), 1 + max(places, default=0), own_lines)


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


def _in_parts(sizes: Sequence[int], first: int) -> list[int]:
    """The part of each function, such that all take about as long; the first has the segments."""
    count = max(1, min(MOST_PARTS, sum(sizes) // LINES_OF_A_PART))
    filled = [first // SEGMENT_LINES, *[0] * (count - 1)]
    places = [0] * len(sizes)
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k]):
        part = filled.index(min(filled))
        filled[part] += sizes[k]
        places[k] = part
    return places


def _in_part(part: int | None, text: Sequence[str]) -> list[str]:
    """Lines that other parts leave out."""
    if part is None:
        return [*text, ""]
    return [f"#if TN_IN_PART({part})", *text, "#endif", ""]


def _in_own_part(about: str, code: LoopCode) -> list[str]:
    """The lines of a loop, which is compiled by itself or with all the rest."""
    return [about, "#ifdef TN_PART", code.declaration, "#else", *code.lines, "#endif", ""]
