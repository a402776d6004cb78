"""The C function of a loop, which stands for itself: its name says what it does.

Loops that do the same, such as the layers of a network, are one function, in one program and in
others: it is compiled once (`objects.py`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from theano.link.native.emit.c_text import c_text, comment, declaration, indented
from theano.link.native.emit.loop import emit_loop
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.step import Step

PART_OF_ITS_OWN = "#define TN_PART -1"
_COMMENT = re.compile(r"/\*.*?\*/")
_PROVISIONAL = re.compile(r"\btn_loop\d+(?=_part\b|_work\b|\b)")


@dataclass(frozen=True)
class LoopCode:
    """A loop in C.

    Attributes
    ----------
    name
        Of its function, of which the names of its parts are made: a hash of what it does.
    lines
        Its definition, indented.
    text
        What is compiled to an object file: the definition, and what it needs.
    """

    name: str
    lines: tuple[str, ...]
    text: str


_codes: WeakKeyDictionary[Step, LoopCode] = WeakKeyDictionary()


def loop_code(loop: Loop) -> LoopCode:
    """The C function of a loop that `lowered_loops.shared_loop` lowered."""
    if loop.step not in _codes:
        _codes[loop.step] = _written(loop)
    return _codes[loop.step]


def _written(loop: Loop) -> LoopCode:
    inner = {other.step.name: loop_code(other) for other in loop.step.loops}
    own, names = loop.step.name, {name: code.name for name, code in inner.items()}
    lines = with_names(emit_loop(loop), names)
    does = without_comments("\n".join(with_names(lines, {own: "loop"})))
    name = f"loop_{hashlib.sha256(does.encode()).hexdigest()[:12]}"
    lines = indented(with_names(lines, {own: name}))
    declared = [line for code in inner.values() for line in declaration(code.lines)]
    text = c_text([loop.step], [*dict.fromkeys(declared), *lines])
    return LoopCode(name, tuple(lines), f"{PART_OF_ITS_OWN}\n{text}")


def without_comments(text: str) -> str:
    """What the compiler reads of a text: loops that differ in comments only are the same."""
    return _COMMENT.sub("", text)


def with_names(lines: Iterable[str], names: dict[str, str]) -> list[str]:
    """Lines in which loops have their names, in the place of those that they were lowered under."""
    return [_PROVISIONAL.sub(lambda found: names.get(found[0], found[0]), line) for line in lines]


def described(loops: Iterable[Loop]) -> str:
    """A comment with the names of loops that are one function."""
    return comment(", ".join(dict.fromkeys(loop.name for loop in loops)))
