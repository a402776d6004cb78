"""The C function of a loop, which stands for itself: its name says what it does.

Loops that do the same, such as the layers of a network, are one function, in one program and in
others: it is compiled once (`objects.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.step import Step
from theano.link.native.render.c_text import (
    c_text,
    comment,
    indented,
    without_comments,
)
from theano.link.native.render.loop import declaration, emit_loop
from theano.support.data_classes import dataclass

PART_OF_ITS_OWN = "#define TN_PART -1"


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
    declaration
        What declares it where it is called.
    does
        The same without comments: loops that differ in comments only are the same.
    """

    name: str
    lines: tuple[str, ...]
    text: str
    does: str
    declaration: str


_codes: WeakKeyDictionary[Step, LoopCode] = WeakKeyDictionary()


def loop_code(loop: Loop) -> LoopCode:
    """Return the C function of a loop that `lowered_loops.shared_loop` lowered."""
    if loop.step not in _codes:
        _codes[loop.step] = _written(loop)
    return _codes[loop.step]


def _written(loop: Loop) -> LoopCode:
    inner = {other.step.name: loop_code(other) for other in loop.step.loops}
    emitted = emit_loop(loop, functions={name: code.name for name, code in inner.items()})
    does = "\n".join(without_comments(emitted.lines("loop")))
    name = f"loop_{hashlib.sha256(does.encode()).hexdigest()[:12]}"
    declared = [code.declaration for code in inner.values()]
    definition = indented(emitted.lines(name))
    text, does = (
        f"{PART_OF_ITS_OWN}\n{c_text([loop.step], [*dict.fromkeys(declared), *lines])}"
        for lines in (definition, without_comments(emitted.lines(name)))
    )
    return LoopCode(name, tuple(definition), text, does, declaration(name))


def described(loops: Iterable[Loop]) -> str:
    """Return a comment with the names of loops that are one function."""
    return comment(", ".join(dict.fromkeys(loop.name for loop in loops)))
