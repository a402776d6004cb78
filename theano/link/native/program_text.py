"""The C text of a function: its segments, and the loops that they call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from theano.link.native.counters import Counters
from theano.link.native.emit_expressions import special_functions
from theano.link.native.emit_loop import emit_loop
from theano.link.native.emit_segment import emit_segment
from theano.link.native.equal_loops import EqualLoops
from theano.link.native.ir import Assign, Map
from theano.link.native.repeated_statements import Repeated
from theano.link.native.segment import Segment

HERE = Path(__file__).parent

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
    parts
        How many there are: with TN_PART defined as a number below, the text is that one.
    """

    text: str
    parts: int = 1


def program_text(segments: Sequence[Segment], counters: Counters | None = None) -> ProgramText:
    """One translation unit for all segments, with counters where it is profiled."""
    repeated, equal = Repeated("statement"), EqualLoops()
    loops, functions = [], []
    for segment in segments:
        loops += [
            [_comment(loop.name), *equal.lines(loop.step.name, emit_loop(loop, counters))]
            for loop in segment.loops
        ]
        functions += [_comment(str(segment)), *emit_segment(segment, repeated, counters), ""]
    # each after those that it calls, which are declared where another part has them
    apart = [*repeated.definitions(), *loops]
    # counters are one table, which one part has
    places = [0] if counters else _in_parts([len(lines) for lines in apart], len(functions))
    lines = [counters.code()] if counters else []
    if max(places) == 0:
        for definition in [*apart, functions]:
            lines += [*_indented(definition), ""]
    else:
        for part, definition in zip([*places, 0], [*apart, functions], strict=True):
            lines += _in_part(part, definition)
    body = "\n".join(lines)
    head = [*preamble(_computes(segments, body)), *special_functions(body)]
    return ProgramText("\n".join([*head, body]) + "\n", 1 + max(places))


def _in_parts(sizes: Sequence[int], first: int) -> list[int]:
    """The part of each function, such that all take about as long; the first has the segments."""
    count = min(MOST_PARTS, sum(sizes) // LINES_OF_A_PART)
    if count < 2:
        return [0]
    filled = [first // SEGMENT_LINES, *[0] * (count - 1)]
    places = [0] * len(sizes)
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k]):
        part = filled.index(min(filled))
        filled[part] += sizes[k]
        places[k] = part
    return places


def _in_part(part: int, lines: list[str]) -> list[str]:
    """Lines that other parts leave out, but for the declaration of what they may call."""
    text = _indented(lines)
    start = next((line for line in text if line.startswith("TN_SHARED ")), None)
    declared = [] if start is None else [f"{start};"]
    if any(line.startswith("#define ") for line in text):
        return [*text, ""]
    return [*declared, f"#if TN_IN_PART({part})", *text, "#endif", ""]


def _comment(what: str) -> str:
    return f"/* {what.replace('*/', '')} */"


def _computes(segments: Sequence[Segment], text: str) -> bool:
    """Whether statements, or the numbers before them, may use activations or vectors."""
    steps = [step for s in segments for step in (s.step, *(loop.step for loop in s.loops))]
    maps = any(isinstance(s, Map | Assign) for step in steps for s in step.statements)
    return maps or "tn_s_" in text


def preamble(computes: bool) -> list[str]:
    """What stands before the functions: with activations, if anything is computed."""
    names = ["prelude.inc"]
    if computes:
        names += ["runtime/activations.inc", "vectors.inc"]
    return [(HERE / name).read_text() for name in names]


def _indented(lines: list[str]) -> list[str]:
    depth, result = 0, []
    for line in lines:
        depth -= line.startswith("}")
        result.append(line if line.startswith("#") else "    " * depth + line)
        depth += line.endswith("{")
    return result
