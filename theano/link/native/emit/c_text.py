"""C text: what stands before functions, how their lines are indented, and comments."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill

from theano.data_classes import dataclass
from theano.link.native.lowering.step import Step

HERE = Path(__file__).parent

_ALWAYS = ("prelude.inc", "once_a_call.inc")
# file beside the prelude -> where it is; each after those that it needs
_LIBRARIES = {
    "activations": "../runtime/activations.inc",
    "vectors": "vectors.inc",
    "special_functions": "special_functions.inc",
    "incomplete_functions": "incomplete_functions.inc",
    "random_state": "random_state.inc",
}
# what needs another: in vectors.inc activations are used, and tn_s_softplus needs those on vectors
_NEEDS = {
    "activations": "vectors",
    "vectors": "activations",
    "incomplete_functions": "special_functions",
}


def c_text(steps: Iterable[Step], lines: Iterable[str]) -> str:
    """A text that a C compiler takes: what the functions of some steps need, and their lines."""
    return "\n".join([*preamble(steps), *lines]) + "\n"


def preamble(steps: Iterable[Step]) -> list[str]:
    """What stands before the functions of some steps."""
    needed: set[str] = set()
    for step in steps:
        needed.update(step.libraries, *(s.libraries() for s in step.statements))
    needed |= {_NEEDS[name] for name in needed if name in _NEEDS}
    paths = [*_ALWAYS, *(path for name, path in _LIBRARIES.items() if name in needed)]
    return [*map(_content, paths)]


@functools.cache
def _content(path: str) -> str:
    return (HERE / path).read_text()


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of a function, which are written without."""
    depth, result = 0, []
    for line in lines:
        depth -= line.startswith("}")
        result.append(line if line.startswith("#") else "    " * depth + line)
        depth += line.endswith("{")
    return result


class Line(str):
    """A line with a comment.

    Attributes
    ----------
    code
        The line without it.
    """

    code: str

    def __new__(cls, code: str, about: str) -> Line:
        text = f"/* {about.replace('*/', '')} */"
        line = super().__new__(cls, f"{code} {text}" if code else text)
        line.code = code
        return line


class Row(Line):
    """A row of a table, which takes a compiler next to no time."""


def comment(what: str) -> Line:
    """Text as a comment."""
    return Line("", what)


def without_comments(lines: Iterable[str]) -> list[str]:
    """What the compiler reads of lines that are not indented yet."""
    return [line.code if isinstance(line, Line) else line for line in lines]


def listed(opening: str, items: Iterable[str], closing: str) -> str:
    """A list of parameters, or of what they are in a call, in as many lines as it takes."""
    return fill(f"{opening}{', '.join(items)}{closing}", 110, subsequent_indent="        ")


@dataclass(frozen=True)
class Definition:
    """A function that other parts of a program may call: what declares it, and what it does."""

    signature: str
    body: list[str]

    @property
    def lines(self) -> list[str]:
        """The definition."""
        return [self.signature, *self.body]

    @property
    def declaration(self) -> str:
        """The line that declares it."""
        return f"{self.signature};"
