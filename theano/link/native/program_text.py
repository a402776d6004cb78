"""The C text of a function: its segments, and the loops that they call."""

from __future__ import annotations

from collections.abc import Sequence
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


def program_text(segments: Sequence[Segment], counters: Counters | None = None) -> str:
    """One translation unit for all segments, with counters where it is profiled."""
    functions = []
    repeated, equal = Repeated("statement"), EqualLoops()
    for segment in segments:
        functions += [
            _described(loop.name, equal.lines(loop.step.name, emit_loop(loop, counters)))
            for loop in segment.loops
        ]
        functions.append(_described(str(segment), emit_segment(segment, repeated, counters)))
    shared = ["\n".join([*_indented(lines), ""]) for lines in repeated.definitions()]
    counting = [counters.code()] if counters else []
    text = "\n".join([*counting, *shared, *functions])
    return "\n".join([*preamble(_computes(segments, text)), *special_functions(text), text]) + "\n"


def _described(what: str, lines: list[str]) -> str:
    return "\n".join([f"/* {what.replace('*/', '')} */", *_indented(lines), ""])


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
