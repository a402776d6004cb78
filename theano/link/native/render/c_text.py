"""C text: what stands before functions, how their lines are indented, and comments."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import fill

from theano.link.native.lowering.step import Step
from theano.link.native.render.functions_on_vectors import all_functions, called_functions
from theano.link.native.render.registry import libraries
from theano.support.data_classes import dataclass

INCLUDED = Path(__file__).parent / "included"

_ALWAYS = ("../../runtime/shared.inc", "prelude.inc")
# file besides the prelude -> where it is; each after those that it needs
_LIBRARIES = {
    "activations": "../../runtime/kernels/activations.inc",
    "vectors": "vectors.inc",
    "special_functions": "special_functions.inc",
    "bessel_of_any_order": "bessel_of_any_order.inc",
    "incomplete_functions": "incomplete_functions.inc",
    "inverses_of_incomplete": "inverses_of_incomplete.inc",
    "generators": "generators.inc",
    "normal_rows": "normal_rows.inc",
    "ufunc_draws": "ufunc_draws.inc",
    "random_state": "random_state.inc",
}
# what needs another: in vectors.inc activations are used, and tn_s_softplus needs those on vectors
_NEEDS = {
    "activations": "vectors",
    "vectors": "activations",
    "bessel_of_any_order": "special_functions",
    "incomplete_functions": "special_functions",
    "inverses_of_incomplete": "incomplete_functions",
    "normal_rows": "generators",
    "ufunc_draws": "generators",
}


# sections of activations.inc, from a heading to the next one, and what shows that a text needs one
_SECTIONS = {
    "float64": re.compile(r"tn_[vs]_\w+_f64|tn_s_softplus|TN_WIDENED"),
    "One number": re.compile("tn_s_softplus"),
}
_HEADING = re.compile(r"^/\* ---- (\w[\w ]*\w)", re.MULTILINE)
_OF_REDUCTIONS = ("begin", "row", "end")
# a line of vectors.inc that makes functions, what their names begin with, and parts in which they differ
_MAKES = (
    (re.compile(r"TN_REDUCTION\((\w+), .*, (f\d\d), "), "tn_{0}_{part}_{1}", _OF_REDUCTIONS),
    (re.compile(r"TN_EXTREME\((\w+), (f\d\d), "), "tn_{0}_{part}_{1}", ("row", "rows")),
    (re.compile(r"TN_COLUMNS\((\w+), (f\w+), "), "tn_{0}_{part}_{1}", ("rows",)),
    (
        re.compile(r"TN_WIDENING_REDUCTION\((\w+), \d\)"),
        "tn_{0}_{part}_f32_in_f64",
        _OF_REDUCTIONS,
    ),
    (re.compile(r"TN_LOAD_APART\((f\d\d), "), "tn_load_apart_{part}{0}", ("", "some_")),
    (re.compile(r"TN_DIVISOR\((f\d\d), "), "tn_divisor_of_{0}", ("",)),
    (
        re.compile(r"TN_TRUTH_MEMORY\((f\d\d), "),
        "tn_mask_{part}_{0}",
        ("load", "load_some", "store", "store_some"),
    ),
)


def c_text(steps: Iterable[Step], lines: Iterable[str]) -> str:
    """Return a text that a C compiler takes: what the functions of some steps need, and their lines."""
    text = "\n".join(lines)
    return "\n".join([*preamble(steps, text), text]) + "\n"


def preamble(steps: Iterable[Step], text: str) -> list[str]:
    """Return what stands before the functions of some steps, without most that their text does not call.

    To read what nobody calls took the compiler 8 of 65 to 90 ms.
    """
    needed: set[str] = set()
    for step in steps:
        needed.update(step.libraries, *map(libraries, step.statements))
    functions = called_functions(text)
    if functions:
        needed |= {"activations", "vectors"}
    for name in reversed(_LIBRARIES):
        # what a file needs may need another
        needed |= {_NEEDS[name]} if name in needed and name in _NEEDS else set()
    paths = [*_ALWAYS, *(path for name, path in _LIBRARIES.items() if name in needed)]
    cut = {_LIBRARIES["activations"]: _called_activations, _LIBRARIES["vectors"]: _called_vectors}
    text = "\n".join([text, *functions])
    contents = [cut[path](text) if path in cut else _content(path) for path in paths]
    return [*contents, *functions]


@functools.cache
def all_preambles() -> str:
    """Return all that may stand before functions."""
    paths = [*_ALWAYS, *_LIBRARIES.values()]
    return "\n".join([*map(_content, paths), *all_functions()])


def _called_activations(text: str) -> str:
    """Return the activations, without sections of which a text calls no function."""
    kept = [heading for heading, call in _SECTIONS.items() if call.search(text)]
    return _activations_with(tuple(kept))


@functools.cache
def _activations_with(kept: tuple[str, ...]) -> str:
    content = _content(_LIBRARIES["activations"])
    headings = list(_HEADING.finditer(content))
    # what the file began with ends with it
    ends = [*(heading.start() for heading in headings[1:]), content.rindex("#endif")]
    for heading, end in reversed(list(zip(headings, ends, strict=True))):
        if heading[1] in _SECTIONS and heading[1] not in kept:
            content = content[: heading.start()] + content[end:]
    return content


def _called_vectors(text: str) -> str:
    """Return what is for vectors, without the lines that make functions that a text does not call."""
    lines = _content(_LIBRARIES["vectors"]).split("\n")
    # a long text is looked through once for each kind, not for each name
    called = functools.cache(lambda beginning: beginning in text)
    kept = "\n".join(
        line for line in lines if not (made := _made_by(line)) or _is_called(made, text, called)
    )
    # it is most of a short program's text, and the same for many
    return sys.intern(kept)


def _is_called(names: Sequence[str], text: str, called: Callable[[str], bool]) -> bool:
    kind = "_".join(names[0].split("_")[:2])
    return called(f"{kind}_") and any(name in text for name in names)


@functools.cache
def _made_by(line: str) -> tuple[str, ...]:
    """Return the names of functions that a line makes, if it does."""
    for pattern, name, parts in _MAKES:
        found = pattern.match(line)
        if found is not None:
            return tuple(name.format(*found.groups(), part=part) for part in parts)
    return ()


@functools.cache
def _content(path: str) -> str:
    return (INCLUDED / path).read_text(encoding="utf-8")


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines of a function, which are written without."""
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
    """Return what the compiler reads of lines that are not indented yet."""
    return [line.code if isinstance(line, Line) else line for line in lines]


def listed(opening: str, items: Iterable[str], closing: str) -> str:
    """Return a list of parameters, or of what they are in a call, in as many lines as it takes."""
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
